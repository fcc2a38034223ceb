"""
Leases of shards as statements: each change of hands is one conditional update, never a look and then a write.

The functions work on a connection that is in a transaction; which one, and what its faults mean, is the store's part.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, case, exc, insert, select, update

from headgate.model.instants import instant
from headgate.ports import Lease
from headgate.stores.clock import time_us
from headgate.stores.tables import shard_lease

_TABLE = shard_lease.c


def take(
    connection: Connection, shard: int, holder: str, *, duration: timedelta, now: datetime | None = None
) -> Lease | None:
    """Take or renew the lease of a shard that has been held before; None if it was not, or somebody else has it."""
    time = time_us(now)
    good = _TABLE.expires_at_us > time
    statement = (
        update(shard_lease)
        .where(_TABLE.shard == shard, ~good | (_TABLE.holder == holder))
        # In this order: MySQL computes each value from those already assigned, and only here.
        .ordered_values(
            (_TABLE.token, _TABLE.token + case((good, 0), else_=1)),
            (_TABLE.holder, holder),
            (_TABLE.expires_at_us, time + _microseconds(duration)),
        )
    )
    return _lease_of(connection, shard) if connection.execute(statement).rowcount == 1 else None


def take_first(
    connection: Connection, shard: int, holder: str, *, duration: timedelta, now: datetime | None = None
) -> Lease | None:
    """Take the lease of a shard that nobody has held before; None if somebody else was first."""
    expiry = time_us(now) + _microseconds(duration)
    row = insert(shard_lease).values(shard=shard, holder=holder, token=1, expires_at_us=expiry)
    try:
        with connection.begin_nested():
            connection.execute(row)
    except exc.IntegrityError:
        return None
    return _lease_of(connection, shard)


def prolong(
    connection: Connection, holder: str, *, duration: timedelta, now: datetime | None = None
) -> tuple[Lease, ...]:
    """Renew all good leases of a holder, and give them by shard."""
    time = time_us(now)
    mine = (_TABLE.holder == holder) & (_TABLE.expires_at_us > time)
    connection.execute(update(shard_lease).where(mine).values(expires_at_us=time + _microseconds(duration)))
    return tuple(lease for lease in all_good(connection, now=now) if lease.holder == holder)


def fence(connection: Connection, lease: Lease) -> bool:
    """
    Tell whether nobody has taken the lease over, and keep it so until the transaction ends.

    An update, though it changes nothing: it locks the row in every database.
    """
    return _change(connection, lease, expires_at_us=_TABLE.expires_at_us)


def token_of(connection: Connection, shard: int) -> int:
    """Give the last token of a shard; 0 if it never had one."""
    return connection.execute(select(_TABLE.token).where(_TABLE.shard == shard)).scalar_one_or_none() or 0


def follow(connection: Connection, lease: Lease) -> bool:
    """
    Put a lease that was got elsewhere in the place of those before it; false if its token is no larger than theirs.

    The row is no lease of this table: it has expired for whoever asks for one here.
    """
    row = {"holder": lease.holder, "token": lease.token, "expires_at_us": 0}
    if token_of(connection, lease.shard):
        free = (_TABLE.shard == lease.shard) & (_TABLE.token < lease.token) & (_TABLE.expires_at_us <= time_us(None))
        return connection.execute(update(shard_lease).where(free).values(row)).rowcount == 1
    try:
        with connection.begin_nested():
            connection.execute(insert(shard_lease).values(shard=lease.shard, **row))
    except exc.IntegrityError:
        return False
    return True


def unfollowed(connection: Connection, leases: Collection[Lease]) -> frozenset[int]:
    """Give the shards of those leases that nobody has followed."""
    query = select(_TABLE.shard, _TABLE.holder, _TABLE.token).where(_TABLE.shard.in_({one.shard for one in leases}))
    last = {(row.shard, row.holder, row.token) for row in connection.execute(query)}
    return frozenset(one.shard for one in leases if (one.shard, one.holder, one.token) in last)


def give_back(connection: Connection, lease: Lease) -> None:
    """Let a lease expire at once; the row stays, since the next token must be larger."""
    _change(connection, lease, expires_at_us=0)


def is_good(connection: Connection, lease: Lease, *, now: datetime | None = None) -> bool:
    """Tell whether a lease is neither expired nor taken over."""
    query = select(_TABLE.shard).where(_is_of(lease), _TABLE.expires_at_us > time_us(now))
    return connection.execute(query).first() is not None


def all_good(connection: Connection, *, now: datetime | None = None) -> tuple[Lease, ...]:
    """Give every lease that has not expired, by shard."""
    query = select(shard_lease).where(_TABLE.expires_at_us > time_us(now)).order_by(_TABLE.shard)
    return tuple(_read(row) for row in connection.execute(query))


def _lease_of(connection: Connection, shard: int) -> Lease:
    return _read(connection.execute(select(shard_lease).where(_TABLE.shard == shard)).one())


def _read(row: Row[Any]) -> Lease:
    return Lease(shard=row.shard, holder=row.holder, token=row.token, expires_at=instant(row.expires_at_us))


def _change(connection: Connection, lease: Lease, *, expires_at_us: ColumnElement[int] | int) -> bool:
    statement = update(shard_lease).where(_is_of(lease)).values(expires_at_us=expires_at_us)
    return connection.execute(statement).rowcount == 1


def _is_of(lease: Lease) -> ColumnElement[bool]:
    return (_TABLE.shard == lease.shard) & (_TABLE.holder == lease.holder) & (_TABLE.token == lease.token)


def _microseconds(duration: timedelta) -> int:
    return duration // timedelta(microseconds=1)
