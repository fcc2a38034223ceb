"""Services that the contracts are tested on."""

from tests.services.kubernetes import flink_kubernetes, kubernetes
from tests.services.mariadb import mariadb_server, mysql_url
from tests.services.postgresql import postgresql_server, postgresql_url

__all__ = [
    "flink_kubernetes",
    "kubernetes",
    "mariadb_server",
    "mysql_url",
    "postgresql_server",
    "postgresql_url",
]
