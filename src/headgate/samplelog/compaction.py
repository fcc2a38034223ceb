"""
Puts the tick files of closed hours together, beside a running writer and running readers.

An hour's new generation is written in full, then a manifest is created that names it, and only a grace period later are
the files removed that it stands for. Killed at any point, the next run finishes or repeats the work; done by two at
once, that of one counts, and the other's file is removed with the rest.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta

import pyarrow as pa

from headgate.model.tables import TABLES
from headgate.samplelog import files, parquet
from headgate.samplelog.files import Address
from headgate.samplelog.layout import Layout, instant
from headgate.samplelog.manifest import Snapshot, is_settled

GRACE = timedelta(minutes=5)
"""How long a reader may take from listing files to having read them."""


def compact(root: Address, now: datetime, *, closed_for: timedelta, grace: timedelta = GRACE) -> int:
    """
    Compact what is closed and clean up what was compacted before.

    Args:
        root: of the log.
        now: the present, by the clock that ticks are labelled with.
        closed_for: how long ago an hour must have ended; a tick that comes later still is added at the next run.
        grace: how long replaced files stay.

    Returns:
        Hours compacted; 0 as well when another process is at it.

    Raises:
        UnreachableError: the log could not be read or written; nothing is lost.
    """
    layout = Layout(root)
    failure = f"the samples log at {root} cannot be compacted"
    with parquet.reported(failure), files.held(layout.upkeep_lock) as alone:
        return _compact_all(layout, now - closed_for, now=now, grace=grace) if alone else 0


def _compact_all(layout: Layout, closed_before: datetime, *, now: datetime, grace: timedelta) -> int:
    compacted, begun = 0, time.monotonic()

    def present() -> datetime:
        return now + timedelta(seconds=time.monotonic() - begun)

    for table in TABLES:
        for hour, listed in layout.listing(table):
            if hour.end <= closed_before and not is_settled(listed):
                # What is gone was put together, or has expired, by another process.
                with suppress(FileNotFoundError):
                    snapshot = Snapshot.take(hour)
                    _clean(snapshot, readers_since=now - grace)
                    compacted += _compact_hour(snapshot, TABLES[table], present)
    return compacted


def _compact_hour(snapshot: Snapshot, schema: pa.Schema, present: Callable[[], datetime]) -> bool:
    if not snapshot.ticks:
        return False
    name = snapshot.next_generation()
    # Generations stay in order of time, so that row groups tell their ticks apart.
    parquet.concatenate(snapshot.hour.folder / name, schema, (*snapshot.compacted, *snapshot.ticks))
    # Readers have their grace from the switch on, however long the work took.
    return snapshot.replaced_by(name, present())


def _clean(snapshot: Snapshot, *, readers_since: datetime) -> None:
    """Remove what the manifest in force has replaced, unless a reader may still be at it."""
    manifest = snapshot.manifest
    if manifest.generation and instant(manifest.switched_ms) <= readers_since:
        files.remove([*snapshot.replaced, *files.hidden(snapshot.hour.folder)])
