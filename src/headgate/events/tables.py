"""The table of events, in the portable subset of SQLite, PostgreSQL and MySQL."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, MetaData, String, Table, Text, UniqueConstraint
from sqlalchemy.dialects.mysql import MEDIUMTEXT

LONGEST_SUBJECT = 500
_LONG_TEXT = Text().with_variant(MEDIUMTEXT(), "mysql", "mariadb")
"""MySQL's own ends at 64 KiB."""
_NUMBER = BigInteger().with_variant(Integer, "sqlite")
"""SQLite counts up integers alone."""

metadata = MetaData()

events = Table(
    "headgate_events",
    metadata,
    Column("id", _NUMBER, primary_key=True, autoincrement=True),
    Column("key_hash", String(64), nullable=False, comment="SHA-256 of subject, reason and key, in hexadecimal digits"),
    Column("ordinal", Integer, nullable=False, comment="which of the events of one key"),
    Column("key", _LONG_TEXT, nullable=False, comment="what repetitions have in common"),
    Column("reason", String(100), nullable=False),
    Column("type", String(20), nullable=False),
    Column("subject", String(LONGEST_SUBJECT), nullable=False, comment="cluster/job, or a cluster"),
    Column("message", _LONG_TEXT, nullable=False, comment="of the last repetition"),
    Column("fields", _LONG_TEXT, nullable=False, comment="JSON; of the last repetition"),
    Column("count", Integer, nullable=False, comment="how often it happened"),
    Column("first_at_us", BigInteger, nullable=False, comment="microseconds since 1970 UTC"),
    Column("last_at_us", BigInteger, nullable=False, comment="microseconds since 1970 UTC"),
    # Of two processes that tell of the same at once, one makes the row and the other counts it up.
    UniqueConstraint("key_hash", "ordinal", name="headgate_events_of_key"),
    Index("headgate_events_by_age", "last_at_us"),
    Index("headgate_events_by_subject", "subject", "last_at_us"),
)
