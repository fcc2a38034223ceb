"""Services that whole processes are tested with."""

from tests.services.kubernetes import kubernetes
from tests.services.postgresql import postgresql_server, postgresql_url

__all__ = ["kubernetes", "postgresql_server", "postgresql_url"]
