"""
Events in a table of any database that SQLAlchemy speaks to; repetitions are counted up in their row.

A row is found and counted up, or made, in one transaction; what several processes tell at once is one row all the same.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import NamedTuple

from sqlalchemy import Connection, exc, insert, select, update

from headgate.errors import ConflictError
from headgate.events.database import EventDatabase
from headgate.events.delivery import fields_json
from headgate.events.merging import REPETITIONS
from headgate.events.tables import LONGEST_SUBJECT, events
from headgate.model.events import Event
from headgate.model.instants import epoch_us

_ATTEMPTS = 5


class _Newest(NamedTuple):
    """The row of a key that was made last."""

    id: int
    ordinal: int
    first_at_us: int


class SqlEventHandler:
    """
    Keeps events in a table, also over restarts; an event that comes again is known by its key and instant.

    Merges by itself, among all processes that share the database: no merging decorator belongs in front of it. Safe to
    call from several threads.
    """

    merges = True

    def __init__(self, database: EventDatabase) -> None:
        """Keep the events in this database; whoever opened it closes it."""
        self._database = database

    def handle(self, event: Event, /) -> None:
        """
        Keep the event: on disk when this returns.

        It counts up the newest row of its key if that began less than the `merge_interval` before, else it makes a row.

        Raises:
            UnreachableError: the database did not answer; it is not known whether the event was kept.
            ConflictError: others have made rows of the same key at the same time, again and again.
            PermanentError: the database said something that waiting does not cure.
        """
        for _ in range(_ATTEMPTS):
            with suppress(ConflictError):
                if self._keep(event):
                    return
        message = f"too many others tell of {event.key} at the same time"
        raise ConflictError(message)

    def _keep(self, event: Event) -> bool:
        """Tell whether the event is kept; if not, somebody else has just made the row that it would have made."""
        key_hash, at_us = _hash_of(event), epoch_us(event.at)
        with self._database.transaction() as connection:
            if _is_known(connection, key_hash, at_us):
                return True
            newest = _newest(connection, key_hash)
            if newest is not None and _is_repeated(newest, event):
                _count_up(connection, newest.id, event)
                return True
            return _add(connection, event, newest.ordinal + 1 if newest else 0)


def _hash_of(event: Event) -> str:
    return hashlib.sha256(f"{event.subject}\n{event.reason}\n{event.key}".encode()).hexdigest()


def _is_known(connection: Connection, key_hash: str, at_us: int) -> bool:
    """Tell whether a row of the key covers the instant: then this is a second delivery, not a repetition."""
    own = (events.c.key_hash == key_hash) & (events.c.first_at_us <= at_us) & (events.c.last_at_us >= at_us)
    return connection.execute(select(events.c.id).where(own).limit(1)).first() is not None


def _newest(connection: Connection, key_hash: str) -> _Newest | None:
    query = select(events.c.id, events.c.ordinal, events.c.first_at_us).where(events.c.key_hash == key_hash)
    row = connection.execute(query.order_by(events.c.ordinal.desc()).limit(1)).first()
    return None if row is None else _Newest(*row)


def _is_repeated(newest: _Newest, event: Event) -> bool:
    if event.merge_interval is None:
        return False
    return abs(epoch_us(event.at) - newest.first_at_us) < event.merge_interval.total_seconds() * 1_000_000


def _count_up(connection: Connection, row_id: int, event: Event) -> None:
    """Count a repetition, unless somebody has told of the same instant meanwhile."""
    at_us = epoch_us(event.at)
    older = (events.c.id == row_id) & (events.c.last_at_us < at_us)
    counted = {"count": events.c.count + _times(event), "last_at_us": at_us}
    connection.execute(update(events).where(older).values(**counted, message=event.message, fields=fields_json(event)))


def _add(connection: Connection, event: Event, ordinal: int) -> bool:
    row = {
        "key_hash": _hash_of(event),
        "ordinal": ordinal,
        "key": event.key,
        "reason": event.reason.value,
        "type": event.type.value,
        "subject": str(event.subject)[:LONGEST_SUBJECT],
        "message": event.message,
        "fields": fields_json(event),
        "count": _times(event),
        "first_at_us": epoch_us(event.at),
        "last_at_us": epoch_us(event.at),
    }
    try:
        connection.execute(insert(events).values(**row))
    except exc.IntegrityError:
        return False
    return True


def _times(event: Event) -> int:
    """Give how often it happened: a merging decorator in front says how many it has held back."""
    held_back = event.fields.get(REPETITIONS, 0)
    return 1 + held_back if isinstance(held_back, int) else 1
