"""Services that whole processes are tested with."""

from tests.services.postgresql import postgresql_server, postgresql_url

__all__ = ["postgresql_server", "postgresql_url"]
