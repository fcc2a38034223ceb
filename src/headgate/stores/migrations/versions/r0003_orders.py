"""Orders: what people want of one job or of all, beside its state, which may be forgotten."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, Text
from sqlalchemy.dialects.mysql import MEDIUMTEXT

from headgate.stores.key_text import KeyText

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make the table if it is not there."""
    op.create_table(
        "headgate_orders",
        Column("job", KeyText(500), primary_key=True, comment="cluster/name; * for all jobs"),
        Column("version", BigInteger, nullable=False, comment="raised by one at each change"),
        Column("orders", Text().with_variant(MEDIUMTEXT(), "mysql", "mariadb"), nullable=False, comment="JSON"),
        if_not_exists=True,
        mysql_charset="utf8mb4",
    )
