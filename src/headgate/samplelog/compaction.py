"""
Puts the tick files of closed hours together, beside a running writer and running readers.

An hour's new generation is written in full, then the manifest is switched to it, and only a grace period later are the
files removed that it stands for. Killed at any point, the next run finishes or repeats the work.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa

from headgate.model.tables import TABLES
from headgate.samplelog import files, parquet
from headgate.samplelog.layout import Hour, Layout, epoch_ms, instant
from headgate.samplelog.manifest import Manifest, Snapshot

GRACE = timedelta(minutes=5)
"""How long a reader may take from listing files to having read them."""


def compact(root: Path, now: datetime, *, closed_for: timedelta, grace: timedelta = GRACE) -> int:
    """
    Compact what is closed and clean up what was compacted before.

    Args:
        root: directory of the log.
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
    compacted = 0
    for table in TABLES:
        for hour in layout.hours(table):
            if hour.end <= closed_before:
                _clean(hour, readers_since=now - grace)
                compacted += _compact_hour(hour, TABLES[table], now)
    return compacted


def _compact_hour(hour: Hour, schema: pa.Schema, now: datetime) -> bool:
    snapshot = Snapshot.take(hour)
    if not snapshot.ticks:
        return False
    generation = snapshot.manifest.generation + 1
    # Generations stay in order of time, so that row groups tell their ticks apart.
    parquet.concatenate(hour.generation(generation), schema, (*snapshot.compacted, *snapshot.ticks))
    absorbed = snapshot.manifest.absorbed.union(path.name for path in snapshot.ticks)
    Manifest(generation=generation, absorbed=absorbed, switched_ms=epoch_ms(now)).save(hour)
    return True


def _clean(hour: Hour, *, readers_since: datetime) -> None:
    """Remove what the manifest in force has replaced, unless a reader may still be at it."""
    manifest = Manifest.load(hour)
    if not manifest.generation or instant(manifest.switched_ms) > readers_since:
        return
    keep = {hour.manifest.name, hour.generation(manifest.generation).name}
    for name in files.names(hour.folder):
        if name in manifest.absorbed or (name.startswith("generation-") and name not in keep):
            files.remove(hour.folder / name)
    for path in files.hidden(hour.folder):
        files.remove(path)
