"""
The database's own clock: the only one that all processes which share a database have in common.

It is read when the statement runs, so a process that was frozen on the way to it cannot bring an old time along.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, literal
from sqlalchemy.ext.compiler import compiles

from headgate.model.instants import epoch_us


def time_us(now: datetime | None) -> ColumnElement[int]:
    """Give an expression for the given instant, or for the database's own time."""
    return _DatabaseTime() if now is None else literal(epoch_us(now), BigInteger)


class _DatabaseTime(ColumnElement[int]):
    """The time of the database in microseconds since 1970 UTC."""

    inherit_cache = True
    type = BigInteger()


@compiles(_DatabaseTime, "sqlite")
def _sqlite(*_: Any, **__: Any) -> str:
    # SQLite counts days in a float, right to the millisecond. Its clock is that of the process that asks.
    return "CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER) * 1000"


@compiles(_DatabaseTime, "postgresql")
def _postgresql(*_: Any, **__: Any) -> str:
    return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)"


@compiles(_DatabaseTime, "mysql", "mariadb")
def _mysql(*_: Any, **__: Any) -> str:
    # Not UNIX_TIMESTAMP: it goes by the session's time zone, in which an hour of each autumn comes twice.
    return "TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6))"
