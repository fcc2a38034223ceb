"""The table of events read back, for people and programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic_core import from_json
from sqlalchemy import Row, select

from headgate.events.database import EventDatabase
from headgate.events.tables import events
from headgate.model.instants import epoch_us, instant


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptEvent:
    """One row: an event and its repetitions."""

    first_at: datetime
    last_at: datetime
    count: int
    type: str
    reason: str
    subject: str
    """`cluster/job`, or the name of a cluster."""
    message: str
    """Of the last repetition."""
    key: str
    fields: Mapping[str, Any]


def read_events(
    database: EventDatabase, *, since: datetime, subject: str | None = None, limit: int = 1_000
) -> tuple[KeptEvent, ...]:
    """
    Give the latest events that have not ended before `since`, oldest first.

    Args:
        database: where the table is.
        since: an event counts with its last repetition.
        subject: `cluster/job`, a cluster, or the name of a job on any cluster; None gives all.
        limit: how many at most; the oldest are left out.

    Raises:
        UnreachableError: the database did not answer.
        PermanentError: the database said something that waiting does not cure.
    """
    query = select(events).where(events.c.last_at_us >= epoch_us(since))
    if subject is not None:
        of_job = events.c.subject.endswith(f"/{subject}", autoescape=True)
        query = query.where((events.c.subject == subject) | of_job)
    with database.transaction() as connection:
        rows = connection.execute(query.order_by(events.c.last_at_us.desc(), events.c.id.desc()).limit(limit)).all()
    return tuple(_kept(row) for row in reversed(rows))


def _kept(row: Row[Any]) -> KeptEvent:
    return KeptEvent(
        first_at=instant(row.first_at_us),
        last_at=instant(row.last_at_us),
        count=row._mapping["count"],  # noqa: SLF001 -- SQLAlchemy's public name; a row has a method of that name
        type=row.type,
        reason=row.reason,
        subject=row.subject,
        message=row.message,
        key=row.key,
        fields=from_json(row.fields),
    )
