"""What every connection to a database has in common, whatever it is for: drivers, extras and time limits."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

DRIVERS = {
    "postgresql": "postgresql+psycopg",
    "postgres": "postgresql+psycopg",
    "mysql": "mysql+pymysql",
    "mariadb": "mariadb+pymysql",
}
"""What a URL means that names a database and no driver."""

EXTRAS = {"postgresql": "postgresql", "mysql": "mysql", "mariadb": "mysql"}
"""Which extra of the distribution brings a database's driver."""


def time_limits(backend: str, answer_within: timedelta) -> Mapping[str, int]:
    """
    Give the driver's arguments by which a connection to a host that is gone comes to an end.

    Args:
        backend: the database, as SQLAlchemy calls it.
        answer_within: how long a connection and an answer may take; whole seconds, one at least.
    """
    seconds = max(1, round(answer_within.total_seconds()))
    if backend == "postgresql":
        # Libpq waits for ever for a host that is gone, unless it asks now and then.
        alive = {"keepalives_idle": seconds, "keepalives_interval": seconds, "keepalives_count": 3}
        patience_ms = max(1, answer_within // timedelta(milliseconds=1))
        return {"connect_timeout": seconds, "tcp_user_timeout": 4 * patience_ms, **alive}
    if backend in {"mysql", "mariadb"}:
        return {"connect_timeout": seconds, "read_timeout": seconds, "write_timeout": seconds}
    return {}
