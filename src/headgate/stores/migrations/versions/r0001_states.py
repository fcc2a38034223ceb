"""States and the history of rescales, as Headgate 0.1 made them without migrations: its databases begin here."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, Integer, String, Text
from sqlalchemy.dialects.mysql import MEDIUMTEXT

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables that are not there."""
    op.create_table(
        "headgate_job_state",
        Column("job", String(500), primary_key=True, comment="cluster/name"),
        Column("version", BigInteger, nullable=False, comment="raised by one at each save"),
        Column("schema_version", Integer, nullable=False, comment="of the JSON, for people and migrations"),
        Column("state", Text().with_variant(MEDIUMTEXT(), "mysql", "mariadb"), nullable=False, comment="JSON"),
        if_not_exists=True,
        mysql_charset="utf8mb4",
    )
    op.create_table(
        "headgate_scaling_history",
        Column("job", String(500), primary_key=True, comment="cluster/name"),
        Column("decision_id", String(200), primary_key=True),
        Column("at_us", BigInteger, nullable=False, comment="microseconds since 1970 UTC; sorts alike everywhere"),
        Column("record", Text, nullable=False, comment="JSON"),
        if_not_exists=True,
        mysql_charset="utf8mb4",
    )
