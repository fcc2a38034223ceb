"""Drops hours that are too old from the log."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from headgate.model.tables import TABLES
from headgate.samplelog import files, parquet
from headgate.samplelog.layout import Layout


def expire(root: Path, before: datetime) -> int:
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
    removed = 0
    for table in TABLES:
        _finish(layout.root / table)
        for hour in layout.hours(table):
            if hour.end <= before:
                files.remove_folder(hour.folder)
                removed += 1
    return removed


def _finish(folder: Path) -> None:
    """Remove what a killed predecessor had begun to remove."""
    for path in files.hidden(folder):
        files.remove(path)
