"""Which files of a table are the newest of all that write to it: where a whole fleet's last word stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

import pyarrow.compute as pc

from headgate.samplelog import parquet
from headgate.samplelog.files import Address
from headgate.samplelog.layout import Hour, epoch_ms, shard_of, tick_of
from headgate.samplelog.manifest import Snapshot

_MILLISECOND = timedelta(milliseconds=1)


def newest_files(
    hours: Sequence[Hour], until: datetime, within: timedelta
) -> tuple[tuple[Address, ...], pc.Expression]:
    """
    Give each writer's newest file, in the order of the log, and which rows of these files count.

    Args:
        hours: of the table, oldest first.
        until: nothing later is looked at.
        within: a writer whose last tick is longer ago than that, before the newest of all, has ended.
    """
    last, patience = epoch_ms(until), within // _MILLISECOND
    found: dict[str, Address] = {}
    newest: int | None = None
    for tick, path in _ticks(hours, last):
        newest = newest or tick
        if tick < newest - patience:
            break
        found.setdefault(shard_of(path.name), path)
    if newest is not None:
        return tuple(reversed(found.values())), pc.field("at_ms") <= last
    return _compacted(hours, last, patience)


def _ticks(hours: Sequence[Hour], last: int) -> Iterator[tuple[int, Address]]:
    """Give the tick files that are in no generation, the newest first."""
    for hour in reversed(hours):
        if epoch_ms(hour.begin) <= last:
            for path in reversed(Snapshot.take(hour).ticks):
                tick = tick_of(path.name) or 0
                if tick <= last:
                    yield tick, path


def _compacted(hours: Sequence[Hour], last: int, patience: int) -> tuple[tuple[Address, ...], pc.Expression]:
    """Give the newest generation: it no longer tells its writers apart, so all that is recent in it counts."""
    at = pc.field("at_ms")
    for hour in reversed(hours):
        for path in Snapshot.take(hour).compacted:
            if ticks := parquet.distinct(path, "at_ms", at <= last):
                return (path,), (at <= last) & (at >= max(ticks) - patience)
    return (), at <= last
