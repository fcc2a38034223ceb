"""
Writes the samples log of a fleet once, in the log's own layout, and keeps it in a cache outside the tree.

The hour before the present one is compacted, of the present one there is a file a tick.
"""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from pathlib import Path

from benchmarks.workload import NOW, Fleet, ticks
from headgate.samplelog import parquet
from headgate.samplelog.compaction import compact
from headgate.samplelog.layout import Layout

BEFORE = timedelta(minutes=24)
"""How far the log reaches back: the window, and as much of the closed hour that no window needs."""
FORMAT = 2


def fleet_log(fleet: Fleet) -> Path:
    """Give the directory of the fleet's log, written now if it is not there yet."""
    root = _cache() / f"fleet-{FORMAT}-{fleet.jobs}"
    complete = root / "complete"
    if not complete.exists():
        _write(fleet, root)
        complete.touch()
    return root


def _write(fleet: Fleet, root: Path) -> None:
    layout = Layout(root)
    # Decisions are taken a moment after the tick: the sample of `NOW` itself is in.
    print(f"writing the log of {fleet.jobs:,} jobs, once", file=sys.stderr)
    for at in ticks(NOW - BEFORE, NOW + timedelta(milliseconds=1)):
        parquet.write(layout.tick_file("jobs", at, "0"), fleet.job_values(at))
        parquet.write(layout.tick_file("samples", at, "0"), fleet.samples(at))
    for _ in range(2):  # the second time removes what the first has put together
        compact(root, NOW, closed_for=timedelta(minutes=10), grace=timedelta())


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "headgate" / "benchmarks"
