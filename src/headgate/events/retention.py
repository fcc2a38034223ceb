"""How events leave the table again: by age, in batches that no other writer waits long for."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, delete, select

from headgate.events.database import EventDatabase
from headgate.events.tables import events
from headgate.model.instants import epoch_us

BATCH = 1_000
"""Rows of one transaction."""
MOST_BATCHES = 50
"""Of one call; what is left is deleted by the next."""


def expire(database: EventDatabase, before: datetime, *, batch: int = BATCH, most_batches: int = MOST_BATCHES) -> int:
    """
    Delete events whose last repetition is older than `before`; safe beside writers and other processes.

    Returns:
        How many were deleted, at most `batch * most_batches`.

    Raises:
        UnreachableError: the database did not answer; what was deleted until then stays deleted.
        PermanentError: the database said something that waiting does not cure.
    """
    deleted = 0
    for _ in range(most_batches):
        with database.transaction() as connection:
            found, gone = _expire_some(connection, epoch_us(before), batch)
        deleted += gone
        if found < batch:
            break
    return deleted


def _expire_some(connection: Connection, before_us: int, batch: int) -> tuple[int, int]:
    """Give how many were found and how many of them deleted: one may have been counted up in between."""
    old = events.c.last_at_us < before_us
    ids = connection.execute(select(events.c.id).where(old).order_by(events.c.last_at_us).limit(batch)).scalars().all()
    if not ids:
        return 0, 0
    return len(ids), connection.execute(delete(events).where(events.c.id.in_(ids) & old)).rowcount
