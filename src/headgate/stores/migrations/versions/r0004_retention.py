"""Since when jobs are gone, and an index by which old rescales are found: so that both can be forgotten."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, inspect

revision = "0004"
down_revision = "0003"

_STATES = "headgate_job_state"
_HISTORY = "headgate_scaling_history"
_AGE_INDEX = "ix_headgate_scaling_history_at_us"


def upgrade() -> None:
    """Add what is not there."""
    inspector = inspect(op.get_bind())
    if "gone_since_us" not in {column["name"] for column in inspector.get_columns(_STATES)}:
        comment = "microseconds since 1970 UTC; null: not known to be gone"
        op.add_column(_STATES, Column("gone_since_us", BigInteger, comment=comment))
    if _AGE_INDEX not in {index["name"] for index in inspector.get_indexes(_HISTORY)}:
        op.create_index(_AGE_INDEX, _HISTORY, ["at_us"])
