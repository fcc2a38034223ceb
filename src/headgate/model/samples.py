"""
What a collector observes of a job at one instant, before any window or formula.

The names of the measures are the reference autoscaler's; the table schemas in `model.tables` are derived from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, StrEnum

from headgate.model.identity import JobKey, VertexId
from headgate.model.topology import Topology


class MeasureKind(Enum):
    """How a measure moves in time, hence what a window keeps of it."""

    COUNTER = "counter"
    """Only grows, until a task restarts; a window keeps its ends."""
    GAUGE = "gauge"
    """Moves freely; a window keeps its ends, sum, count and maximum."""


class Measure(Enum):
    """One measured quantity of a vertex: its column's name and its kind."""

    LAG = ("lag_records", MeasureKind.GAUGE)
    """Records waiting in front of a source."""
    NUM_RECORDS_IN = ("records_in", MeasureKind.COUNTER)
    """Records read by all subtasks; a source's own reads, see the collector."""
    NUM_RECORDS_OUT = ("records_out", MeasureKind.COUNTER)
    """Records written by all subtasks to all outputs."""
    ACCUMULATED_BUSY_TIME = ("busy_ms", MeasureKind.COUNTER)
    """Busy milliseconds summed over subtasks."""
    ACCUMULATED_IDLE_TIME = ("idle_ms", MeasureKind.COUNTER)
    """Idle milliseconds summed over subtasks."""
    ACCUMULATED_BACKPRESSURED_TIME = ("backpressured_ms", MeasureKind.COUNTER)
    """Back-pressured milliseconds summed over subtasks."""
    LOAD = ("load", MeasureKind.GAUGE)
    """Busy share, 0 to 1, of the hottest or coldest subtask since the sample before (aggregator MAX or MIN)."""
    OBSERVED_TPR = ("observed_tpr", MeasureKind.GAUGE)
    """Records/s a source really did while it was behind, corrected for back-pressure; infinite when idle."""
    NUM_RECORDS_IN_PER_SECOND = ("records_in_per_s", MeasureKind.GAUGE)
    """The engine's own rate gauge: a fallback, it lags by up to a minute."""

    def __init__(self, column: str, kind: MeasureKind) -> None:
        """Keep the parts of the declaration under names."""
        self.column = column
        self.kind = kind

    @property
    def bit(self) -> int:
        """The measure's bit in a row's `infinite` mask."""
        return 1 << list(Measure).index(self)


class JobMeasure(StrEnum):
    """One measured quantity of a whole job: its column's name."""

    GC_PRESSURE = "gc_pressure"
    """Share of time, 0 to 1, that the TaskManager with most of it spends in garbage collection."""
    HEAP_MEMORY_USED = "heap_used_bytes"
    """Largest heap in use of any TaskManager."""
    HEAP_MAX_USAGE_RATIO = "heap_usage"
    """Largest heap in use over largest heap, 0 to 1."""
    MANAGED_MEMORY_USED = "managed_used_bytes"
    """Largest managed memory in use of any TaskManager."""
    METASPACE_MEMORY_USED = "metaspace_used_bytes"
    """Largest metaspace in use of any TaskManager."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VertexSample:
    """One vertex at one instant."""

    measured_at: datetime
    """When the engine took the values, by its own clock; only differences within a vertex mean anything."""
    epoch: int = 0
    """Raised by the collector at every counter reset; differences are taken within an epoch only."""
    values: Mapping[Measure, float] = field(default_factory=dict)
    """What is known; a missing measure is absent, an infinite one is `math.inf`, NaN does not occur."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """One metric over all TaskManagers."""

    least: float
    most: float
    mean: float
    total: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One external metric at one instant."""

    value: float
    """Finite."""
    measured_at: datetime
    """When it was true, by the clock of its own system where that tells, else when it was asked."""
    vertex: VertexId | None = None
    """The vertex that it is about; None: the whole job."""


class JobStatus(StrEnum):
    """The states that matter to an autoscaler; every other one an engine has is `OTHER`."""

    RUNNING = "RUNNING"
    """All tasks run (or have finished)."""
    STARTING = "STARTING"
    """The engine calls it running, some tasks are not there yet."""
    RESTARTING = "RESTARTING"
    FAILED = "FAILED"
    FINISHED = "FINISHED"
    CANCELED = "CANCELED"
    OTHER = "OTHER"

    @property
    def is_over(self) -> bool:
        """Tell whether the job will never run again under this job id."""
        return self in {JobStatus.FAILED, JobStatus.FINISHED, JobStatus.CANCELED}


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """The cluster's own settings that bound how fast a change can be seen and made."""

    checkpoint_interval_s: float | None = None
    """None when checkpoints are off."""
    rescale_cooldown_s: float = 30.0
    """The least time between two rescales that the engine keeps."""
    resource_stabilization_s: float = 60.0
    """How long the engine waits for the slots it would like before it takes what there is."""
    metric_refresh_s: float = 10.0
    """How often the engine fetches metrics from its workers: values repeat in between."""
    adaptive: bool = True
    """Whether parallelism can change in place."""
    slots_per_task_manager: int = 1
    task_manager_cpus: float | None = None
    """None when unknown."""
    task_manager_memory_bytes: int | None = None
    """Total process memory of a TaskManager; None when unknown."""
    memory: Mapping[str, str] = field(default_factory=dict)
    """The cluster's `taskmanager.memory.*` and `taskmanager.network.*` settings, as they are written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSample:
    """A job at one instant: the graph as it runs, each vertex's sample, job-wide values."""

    job: JobKey
    at: datetime
    """The tick of the collector, the same for all vertices."""
    job_id: str
    running_since: datetime
    topology: Topology
    vertices: Mapping[VertexId, VertexSample]
    """A vertex without a fresh measurement at this tick is absent."""
    settings: EngineSettings = field(default_factory=EngineSettings)
    slots_total: int | None = None
    slots_free: int | None = None
    values: Mapping[JobMeasure, float] = field(default_factory=dict)
    """Job-wide values; a missing one is absent."""
    signals: Mapping[str, Signal] = field(default_factory=dict)
    """External metrics by the name that they were declared under; one that could not be had is absent."""

    @property
    def slots_used(self) -> int | None:
        """Slots of the cluster in use; None when unknown."""
        if self.slots_total is None or self.slots_free is None:
            return None
        return self.slots_total - self.slots_free
