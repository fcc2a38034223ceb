"""Leases of shards; which jobs have an open intent; in MySQL keys that are exact and JSON that is not cut off."""

from __future__ import annotations

import json

from alembic import op
from sqlalchemy import BigInteger, Boolean, Column, Integer, String, column, false, inspect, select, table, true, update
from sqlalchemy.dialects.mysql import MEDIUMTEXT

from headgate.stores.key_text import KeyText

revision = "0002"
down_revision = "0001"

_STATES = "headgate_job_state"
_HISTORY = "headgate_scaling_history"
_IN_FLIGHT_INDEX = "ix_headgate_job_state_in_flight"


def upgrade() -> None:
    """Add what is not there."""
    if op.get_bind().dialect.name in {"mysql", "mariadb"}:
        _widen()
    inspector = inspect(op.get_bind())
    if "in_flight" not in {column["name"] for column in inspector.get_columns(_STATES)}:
        in_flight = Column("in_flight", Boolean, nullable=False, server_default=false(), comment="has an open intent")
        op.add_column(_STATES, in_flight)
    _mark_open_intents()
    if _IN_FLIGHT_INDEX not in {index["name"] for index in inspector.get_indexes(_STATES)}:
        op.create_index(_IN_FLIGHT_INDEX, _STATES, ["in_flight"])
    _add_leases()


def _widen() -> None:
    for name in (_STATES, _HISTORY):
        op.alter_column(name, "job", type_=KeyText(500), existing_nullable=False, existing_comment="cluster/name")
    op.alter_column(_HISTORY, "decision_id", type_=KeyText(200), existing_nullable=False)
    op.alter_column(_HISTORY, "record", type_=MEDIUMTEXT(), existing_nullable=False, existing_comment="JSON")


def _mark_open_intents() -> None:
    states = table(_STATES, column("job", KeyText(500)), column("state", String()), column("in_flight", Boolean()))
    rows = op.get_bind().execute(select(states.c.job, states.c.state)).all()
    for row in rows:
        if _has_intent(row.state):
            op.execute(update(states).where(states.c.job == row.job).values(in_flight=true()))


def _has_intent(text: str) -> bool:
    # A state that cannot be read is reported when its job is loaded, not here.
    try:
        return bool(json.loads(text)["state"]["intent"])
    except (ValueError, KeyError, TypeError):
        return False


def _add_leases() -> None:
    op.create_table(
        "headgate_shard_lease",
        Column("shard", Integer, primary_key=True, autoincrement=False),
        Column("holder", String(500), nullable=False, comment="host/process"),
        Column("token", BigInteger, nullable=False, comment="raised by one at each change of hands"),
        Column("expires_at_us", BigInteger, nullable=False, comment="microseconds since 1970 UTC; 0: given back"),
        if_not_exists=True,
        mysql_charset="utf8mb4",
    )
