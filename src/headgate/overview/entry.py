"""A job's past: values, for the terminal and for machines."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from headgate.model.identity import JobKey
from headgate.overview.row import Change


class Kind(StrEnum):
    """What an entry of the timeline tells of."""

    RESCALE = "rescale"
    ROLLBACK = "rollback"
    ORDER = "order"
    """What somebody ordered, and still holds."""
    EVENT = "event"
    """What the service told at that instant."""
    UNCHANGED = "unchanged"
    """A stretch of decisions that changed nothing."""
    SILENCE = "silence"
    """Nobody decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescale:
    """One change of the parallelism that was made."""

    decision_id: str
    changes: tuple[Change, ...]
    reached_at: datetime | None = None
    """When the job was seen to run so; None: never, or that is not known yet."""
    downtime_s: float | None = None
    """How long the job stood still, as measured; None where that is not known."""
    in_flight: bool = False
    """Whether it is not over yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing that happened, or a stretch in which nothing did."""

    at: datetime
    kind: Kind
    what: str
    """In a few words."""
    until: datetime | None = None
    """The end of a stretch; None for an instant."""
    count: int = 1
    """Decisions, or repetitions of an event."""
    why: tuple[str, ...] = ()
    """The reasons, with their numbers, a sentence each."""
    rescale: Rescale | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What one decision saw."""

    at: datetime
    parallelism: int | None
    """Subtasks of all vertices."""
    lag: float | None
    """Records, of all sources."""
    load: float | None
    """Of the busiest vertex, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """One job over a stretch of time."""

    job: JobKey
    since: datetime
    until: datetime
    entries: tuple[Entry, ...]
    """Oldest first."""
    points: tuple[Point, ...] = ()
    """Oldest first."""
    standing: tuple[str, ...] = ()
    """What holds at the end: what is on trial, what is remembered and until when."""
    notes: tuple[str, ...] = ()
    """What could not be asked."""
