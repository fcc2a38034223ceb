"""
How jobs that are gone, and rescales of long ago, leave the database.

The functions work on a connection that is in a transaction; which one, and what its faults mean, is the store's part.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import Connection, delete, false, select, update

from headgate.model.identity import JobKey
from headgate.model.instants import epoch_us, instant
from headgate.model.orders import NO_ORDERS
from headgate.stores.standing_orders import order_for
from headgate.stores.tables import job_state, scaling_history

BATCH = 500
"""Rows of one statement: no other writer waits for it for long."""


def forget(connection: Connection, job: JobKey, *, gone_before: datetime | None, unused: bool, store: str) -> bool:
    """Remove a job's state and history, if it is gone for so long and not in use; whether it was removed."""
    rows = job_state.c.job == str(job)
    if gone_before is not None:
        rows &= job_state.c.gone_since_us < epoch_us(gone_before)
    if unused:
        if order_for(connection, job, store) != NO_ORDERS:
            return False
        rows &= job_state.c.in_flight == false()
    if not connection.execute(delete(job_state).where(rows)).rowcount:
        return False
    connection.execute(delete(scaling_history).where(scaling_history.c.job == str(job)))
    return True


def kept(connection: Connection) -> Mapping[JobKey, datetime | None]:
    """Give every job of which a state is kept, and since when it is noted as gone."""
    rows = connection.execute(select(job_state.c.job, job_state.c.gone_since_us).order_by(job_state.c.job)).all()
    return {JobKey.parse(job): None if since is None else instant(since) for job, since in rows}


def note_gone(connection: Connection, jobs: Collection[JobKey], at: datetime | None) -> None:
    """Note since when jobs are gone, or with None that they are back."""
    since = None if at is None else epoch_us(at)
    names = sorted(map(str, jobs))
    for begin in range(0, len(names), BATCH):
        some = job_state.c.job.in_(names[begin : begin + BATCH])
        connection.execute(update(job_state).where(some).values(gone_since_us=since))


def forget_some_history(connection: Connection, before: datetime) -> bool:
    """Remove rescales that were made before an instant, the oldest first; whether there may be more of them."""
    at = scaling_history.c.at_us
    old = select(at).where(at < epoch_us(before)).order_by(at).limit(BATCH)
    found = connection.execute(old).scalars().all()
    if found:
        connection.execute(delete(scaling_history).where(at <= found[-1]))
    return len(found) == BATCH
