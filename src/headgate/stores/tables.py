"""The SQL store's two tables, in the portable subset of SQLite, PostgreSQL and MySQL."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import BigInteger, Column, Integer, MetaData, String, Table, Text

_KEY_LENGTH = 500

metadata = MetaData()

job_state = Table(
    "headgate_job_state",
    metadata,
    Column("job", String(_KEY_LENGTH), primary_key=True, comment="cluster/name"),
    Column("version", BigInteger, nullable=False, comment="raised by one at each save"),
    Column("schema_version", Integer, nullable=False, comment="of the JSON, for people and migrations"),
    Column("state", Text(2**24 - 1), nullable=False, comment="JSON"),
)

scaling_history = Table(
    "headgate_scaling_history",
    metadata,
    Column("job", String(_KEY_LENGTH), primary_key=True, comment="cluster/name"),
    Column("decision_id", String(200), primary_key=True),
    Column("at_us", BigInteger, nullable=False, comment="microseconds since 1970 UTC; sorts alike everywhere"),
    Column("record", Text, nullable=False, comment="JSON"),
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def epoch_us(at: datetime) -> int:
    """Give an instant as whole microseconds since 1970 UTC, exactly."""
    return (at - _EPOCH) // timedelta(microseconds=1)
