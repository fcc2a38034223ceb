"""Drops hours that are too old from the log."""

from __future__ import annotations

from datetime import datetime

from headgate.model.tables import TABLES
from headgate.samplelog import files, parquet
from headgate.samplelog.files import Address
from headgate.samplelog.layout import Hour, Layout
from headgate.samplelog.manifest import Snapshot


def expire(root: Address, before: datetime) -> int:
    """
    Remove every hour that ended before an instant.

    Returns:
        Hours removed; 0 as well when another process is compacting.

    Raises:
        UnreachableError: something could not be removed.
    """
    layout = Layout(root)
    failure = f"old hours of the samples log at {root} cannot be removed"
    with parquet.reported(failure), files.held(layout.upkeep_lock) as alone:
        return _remove_hours(layout, before) if alone else 0


def _remove_hours(layout: Layout, before: datetime) -> int:
    expired = [hour for table in TABLES for hour in layout.hours(table) if hour.end <= before]
    return sum(_remove(hour, before) for hour in expired)


def _remove(hour: Hour, now: datetime) -> bool:
    """Make all rows of an hour vanish at once for every reader, by a manifest of none, then remove what is in it."""
    if not Snapshot.take(hour).replaced_by("", now):
        return False
    # The manifest of none goes last: an older one, which may come after it by name, would make rows of an hour that is
    # half gone.
    last = Snapshot.take(hour).manifest.name
    files.remove(hour.folder / name for name in files.names(hour.folder) if name != last)
    files.remove([hour.folder / last, hour.folder])
    return True
