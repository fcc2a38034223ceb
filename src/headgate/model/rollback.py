"""
What is remembered of a rescale until it has proved good, and of one that was taken back (FLINK-37411).

Values that a state store keeps, and the evidence that checkers are shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from headgate.model.identity import VertexId
from headgate.model.measures import JobMeasure, JobStatus
from headgate.model.redeploy import Redeploy, Start


class Pool(StrEnum):
    """What a TaskManager may be short of."""

    NETWORK = "network memory"
    HEAP = "heap"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """Memory of which the TaskManagers of a job have too little, with what is known of how much."""

    pool: Pool
    required: int | None = None
    """Network buffers that one task asked for."""
    available: int | None = None
    """Network buffers that were free for it."""
    buffers: int | None = None
    """Network buffers that its TaskManager has in all."""

    @property
    def missing(self) -> int:
        """Return the network buffers that the task did not get; 0 when unknown."""
        if self.required is None or self.available is None:
            return 0
        return max(0, self.required - self.available)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a checker found against a job; as a text it is the sentence for people."""

    checker: str = ""
    """Its name; empty before that is known."""
    found: str = ""
    """What it found, with the numbers; empty for one that only says that the job will not recover."""
    shortage: Shortage | None = None
    """What more memory would cure; None where that is no cure, or nobody knows."""

    def __str__(self) -> str:
        """Name the checker, and say what it found."""
        if not self.found:
            return f"checker {self.checker} says that the job will not recover"
        return f"checker {self.checker}: {self.found}" if self.checker else self.found


Why = Evidence | str
"""Evidence; or a sentence, where a person ordered it, or an older Headgate wrote it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How a job runs: who changed it is told by what differs between two of them."""

    job_id: str
    fingerprint: str
    """Of the job graph, see `Topology.fingerprint`."""
    parallelism: Mapping[VertexId, int]
    """Of every vertex."""
    names: Mapping[VertexId, str] = field(default_factory=dict)
    """What people call each; empty in what an older Headgate has saved."""
    settings: str = ""
    """A digest of the cluster's configuration, as far as the engine tells of it; empty when it does not."""
    started_at: datetime | None = None
    """Since when the engine has this job under its id, rescales do not count; None when it does not tell."""
    start: Start | None = None
    """With what to start it again, where it was changed by a redeploy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A rescale of ours that has not proved good yet."""

    decision_id: str
    began_at: datetime
    """When the engine was asked for it."""
    before: Run
    """How the job was when it was last well."""
    after: Mapping[VertexId, int]
    """Wanted parallelism of the vertices that changed."""
    values: Mapping[JobMeasure, float] = field(default_factory=dict)
    """Job-wide values before it."""
    demand: Mapping[VertexId, float] = field(default_factory=dict)
    """Records/s that the vertices that changed had to do when it was decided, as far as that was known."""
    reached_at: datetime | None = None
    """When the job was first seen to run so; None before that."""
    job_id: str | None = None
    """Of the job that runs so, where a redeploy has given it another one than `before` had."""
    started_at: datetime | None = None
    """See `Run.started_at`, of the job on trial."""
    redeploy: Redeploy | None = None
    """What was started instead, where it was a redeploy."""
    down_since: datetime | None = None
    """Since when the job was not seen running; None while it runs."""
    takes_back: str | None = None
    """The decision that it took back: a rollback is under observation too, and never taken back itself."""
    memory_raised_at: datetime | None = None
    """When the memory was raised instead of taking the rescale back; everything is observed anew from then on."""
    granted: bool | None = None
    """Whether the job was ever seen to run otherwise than before; False once it should have, None until then."""
    told: bool = False
    """Whether somebody was told that the job is sick and is left alone."""
    ill_since: datetime | None = None
    """Since when the job is seen to be sick and is left alone; None while it is well."""
    well_until: datetime | None = None
    """When the first of the rescales began that have not proved good yet; None when that is not known."""

    @property
    def runs_as(self) -> str:
        """Id of the job on trial."""
        return self.job_id or self.before.job_id


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFailure:
    """One failure of a job, by the engine's own history."""

    at: datetime
    """By the engine's clock."""
    text: str
    """The exception and its causes, without stack frames: one line each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFailures:
    """What an engine tells of the failures of a job."""

    failures: tuple[JobFailure, ...] = ()
    """Oldest first; an engine keeps only the latest ones."""
    restarts: int | None = None
    """How often the job was restarted since it was submitted, rescales included; None when unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aftermath:
    """What came after a rescale of ours: what checkers judge by."""

    trial: Trial
    now: datetime
    status: JobStatus
    down_since: datetime | None = None
    """Since when the job is not running; None while it runs."""
    running: Mapping[VertexId, int] = field(default_factory=dict)
    """Parallelism of every vertex as last seen."""
    failures: tuple[JobFailure, ...] = ()
    """Since the rescale began, oldest first."""
    failures_before: tuple[JobFailure, ...] = ()
    """Those within `rollback.restart-window` before `Trial.well_until`, oldest first."""
    values: Mapping[JobMeasure, float] = field(default_factory=dict)
    """Job-wide values since the rescale: their means over the samples taken; empty before there is one."""
    given_up: bool = False
    """Whether nobody waits for it any more: its intent was closed before the job was seen to run so."""
    restart_time: timedelta | None = None
    """How long a rescale is expected to stop the job, by what was measured; None: as the options say."""


class Side(StrEnum):
    """On which side of a parallelism a vertex must stay."""

    BELOW = "BELOW"
    """With so many subtasks, or more, the job was sick."""
    ABOVE = "ABOVE"
    """With so many subtasks, or fewer, the job was sick."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelismBound:
    """A parallelism of one vertex that made its job sick; no decision reaches it before it expires."""

    vertex: VertexId
    parallelism: int
    """The one that made it sick."""
    side: Side
    expires_at: datetime
    why: Why
    began_at: datetime | None = None
    """When it was taken there; None when that is not known."""
    well: int | None = None
    """The one at which it was well before; None when that is not known."""

    @property
    def limit(self) -> int:
        """
        The furthest that a decision goes: half way from where the job was well.

        One step less would be one sick try after the other; like this there are as few as halvings.
        """
        if self.well is None:
            return self.parallelism - 1 if self.side is Side.BELOW else self.parallelism + 1
        half = abs(self.parallelism - self.well) // 2
        return self.well + half if self.side is Side.BELOW else self.well - half


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollback:
    """A rescale that was taken back."""

    decision_id: str
    """Of the rescale."""
    at: datetime
    run: Run
    """The sick one: while the job still is it, or the one that it went back to, the pause holds."""
    target: Mapping[VertexId, int]
    """Where it goes back to."""
    why: Why
    paused_until: datetime | None = None
    """None: until the cluster is restarted."""
    job_id: str | None = None
    """Of the job that it goes back to, where a redeploy gives it another one than `run` has."""
    started_at: datetime | None = None
    """See `Run.started_at`, of the job that it went back to; None while that is not known."""
