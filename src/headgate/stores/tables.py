"""
The SQL store's tables as they are now, in the portable subset of SQLite, PostgreSQL and MySQL.

Databases come to them by the migrations; a test holds the two equal.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Integer, MetaData, String, Table, Text, false
from sqlalchemy.dialects.mysql import MEDIUMTEXT

from headgate.stores.key_text import KeyText

_KEY_LENGTH = 500
_JSON = Text().with_variant(MEDIUMTEXT(), "mysql", "mariadb")

metadata = MetaData()

job_state = Table(
    "headgate_job_state",
    metadata,
    Column("job", KeyText(_KEY_LENGTH), primary_key=True, comment="cluster/name"),
    Column("version", BigInteger, nullable=False, comment="raised by one at each save"),
    Column("schema_version", Integer, nullable=False, comment="of the JSON, for people and migrations"),
    Column("state", _JSON, nullable=False, comment="JSON"),
    Column("in_flight", Boolean, nullable=False, server_default=false(), index=True, comment="has an open intent"),
    Column("gone_since_us", BigInteger, comment="microseconds since 1970 UTC; null: not known to be gone"),
)

scaling_history = Table(
    "headgate_scaling_history",
    metadata,
    Column("job", KeyText(_KEY_LENGTH), primary_key=True, comment="cluster/name"),
    Column("decision_id", KeyText(200), primary_key=True),
    Column(
        "at_us", BigInteger, nullable=False, index=True, comment="microseconds since 1970 UTC; sorts alike everywhere"
    ),
    Column("record", _JSON, nullable=False, comment="JSON"),
)

shard_lease = Table(
    "headgate_shard_lease",
    metadata,
    Column("shard", Integer, primary_key=True, autoincrement=False),
    Column("holder", String(_KEY_LENGTH), nullable=False, comment="host/process"),
    Column("token", BigInteger, nullable=False, comment="raised by one at each change of hands"),
    Column("expires_at_us", BigInteger, nullable=False, comment="microseconds since 1970 UTC; 0: given back"),
)

orders = Table(
    "headgate_orders",
    metadata,
    Column("job", KeyText(_KEY_LENGTH), primary_key=True, comment="cluster/name; * for all jobs"),
    Column("version", BigInteger, nullable=False, comment="raised by one at each change"),
    Column("orders", _JSON, nullable=False, comment="JSON"),
)
