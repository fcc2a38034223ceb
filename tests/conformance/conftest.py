"""Services that the contracts are tested on."""

from tests.services.kubernetes import kubernetes
from tests.services.mariadb import mariadb_server, mysql_url
from tests.services.postgresql import postgresql_server, postgresql_url

__all__ = ["kubernetes", "mariadb_server", "mysql_url", "postgresql_server", "postgresql_url"]
