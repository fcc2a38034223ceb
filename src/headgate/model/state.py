"""
Everything Headgate must remember of a job between two cycles, as one immutable value.

A state store keeps it; `control` makes a new one from the old one. It holds no samples: those are in the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from headgate.model.events import Event
from headgate.model.identity import VertexId
from headgate.model.metrics import ScalingMetric
from headgate.model.orders import Given
from headgate.model.redeploy import Launch, Overlay, Redeploy
from headgate.model.rollback import ParallelismBound, Rollback, Run, Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """A change that is about to be made or whose result is not yet known. Saved before the effect."""

    decision_id: str
    decided_at: datetime
    job_id: str
    fingerprint: str
    before: Mapping[VertexId, int]
    after: Mapping[VertexId, int]
    """Wanted parallelism of the vertices that change; the others are the engine's and the user's business."""
    deadline: datetime
    """By when the running parallelism should have reached `after`."""
    realized_at: datetime | None = None
    """When the engine accepted it; None while that is not known."""
    attempts: int = 0
    """How often the deadline has passed and the request was repeated."""
    metrics: Mapping[VertexId, Mapping[ScalingMetric, float]] = field(default_factory=dict)
    """Evaluated metrics of the vertices that change, for the history."""
    redeploy: Redeploy | None = None
    """What to start instead, for an engine that cannot change a running job; None: it changes in place."""
    takes_back: str | None = None
    """The decision that it takes back, if it is a rollback."""
    trial: Trial | None = None
    """What is observed once the engine has taken it, and may have to be before that is known."""
    names: Mapping[VertexId, str] = field(default_factory=dict)
    """What people call the vertices that change; empty in what an older Headgate has saved."""
    ordered: bool = False
    """Whether somebody has ordered it: a pause does not hold it up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingRecord:
    """One rescale that was made, kept for the history of the job."""

    decision_id: str
    at: datetime
    before: Mapping[VertexId, int]
    after: Mapping[VertexId, int]
    """Of the vertices that changed."""
    reached_at: datetime | None = None
    """None when the target was never reached."""
    restart: timedelta | None = None
    """How long the job stood still, as measured; None while that is not known."""
    metrics: Mapping[VertexId, Mapping[ScalingMetric, float]] = field(default_factory=dict)
    """Evaluated metrics of the vertices that changed, at the time of the decision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A wish to shrink that was not granted yet."""

    at: datetime
    parallelism: int
    outside: bool
    """Whether the vertex was outside its band then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayedScaleDown:
    """The wishes of one vertex to shrink, since the first one."""

    first_at: datetime
    wishes: tuple[Wish, ...]
    """Oldest first, strictly decreasing in parallelism: an entry is the largest wish since it was made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A parallelism that the engine refused or never reached; not tried again before it expires."""

    after: Mapping[VertexId, int]
    expires_at: datetime
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """What is remembered of one job; the default is a job never seen before."""

    intent: Intent | None = None
    rejections: tuple[Rejection, ...] = ()
    history: tuple[ScalingRecord, ...] = ()
    """Oldest first, trimmed by count and age."""
    delayed: Mapping[VertexId, DelayedScaleDown] = field(default_factory=dict)
    """Vertices that want to shrink and wait for their `scale-down.interval`."""
    outbox: tuple[Event, ...] = ()
    """Events saved with the state and not yet delivered: they leave at least once."""
    launch: Launch | None = None
    """What the job was submitted with, by Headgate itself."""
    overlay: Overlay = field(default_factory=Overlay)
    """Configuration that the job was given over its launch spec; every later start is given it too."""
    deferred: Overlay = field(default_factory=Overlay)
    """Changes of the configuration that wait for the next start."""
    first: Run | None = None
    """How the job ran before any rescale of ours, under the id that it had at the latest one."""
    trial: Trial | None = None
    """The last rescale, while it is under observation."""
    rollback: Rollback | None = None
    """The last rescale that was taken back, while scaling is paused for it."""
    bounds: tuple[ParallelismBound, ...] = ()
    """What made the job sick, until it expires."""
    job_wide: int | None = None
    """The parallelism of the whole job with which Headgate started it last."""
    paused: Given | None = None
    """The pause that was told of."""
    taken_up: Given | None = None
    """The order to take a rescale back that was taken up last: it is never taken up again."""


UNSEEN = JobState()
"""Of a job never seen before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionedState:
    """A state with the version under which a store holds it."""

    state: JobState = field(default_factory=JobState)
    version: int = 0
    """0: the store does not hold the job."""
