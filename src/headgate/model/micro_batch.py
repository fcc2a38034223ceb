"""What an engine tells of one micro-batch of a streaming query, before any formula."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from headgate.model.lag import LagOrigin


@dataclass(frozen=True, slots=True, kw_only=True)
class StageWork:
    """One stage of a micro-batch: what runs between two shuffles."""

    tasks: int
    task_time: timedelta
    """Run time summed over its tasks, failed attempts left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MicroBatch:
    """One micro-batch that was committed."""

    query: str
    """Name of the query, or its id where it has none: the same across restarts from one checkpoint."""
    run_id: str
    """Another one after each restart of the query."""
    batch_id: int
    started_at: datetime
    duration: timedelta
    """From trigger to commit."""
    rows: int
    """Read from all sources."""
    cores: int
    """Cores that its tasks could use, those of the executors alive when it ended."""
    stages: tuple[StageWork, ...]
    """In the order in which they ran; stages of a batch that reuse what an earlier one wrote are left out."""
    lag: float | None
    """Rows that its sources had, at its end, behind what it read; None when unknown."""
    lag_origin: LagOrigin = LagOrigin.UNKNOWN
    interval: timedelta | None = None
    """Between two triggers; None: one batch follows the other at once."""
    limit: int | None = None
    """Most rows that a batch may take; None: all there is."""
    state_rows: int = 0
    state_bytes: int = 0
    """In all state stores together; 0 for a query without state."""
    warming: bool = False
    """Whether it ran while executors came or went, or is the first after: it says nothing about what rows cost."""
    phases: Mapping[str, timedelta] = field(default_factory=dict)
    """Parts of the duration by the engine's own names, such as `queryPlanning`."""
