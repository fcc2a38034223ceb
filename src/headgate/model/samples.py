"""
What a collector observes of a job at one instant, before any window or formula.

The table schemas in `model.tables` are derived from it and from `model.measures`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobMeasure, Measure
from headgate.model.topology import Topology


@dataclass(frozen=True, slots=True, kw_only=True)
class VertexSample:
    """One vertex at one instant."""

    measured_at: datetime
    """When the engine took the values, by its own clock; only differences within a vertex mean anything."""
    epoch: int = 0
    """
    Raised by the collector at every counter reset; differences are taken within an epoch only.

    Where a counter falls all the same, the observer raises it, see `algorithm.resets`.
    """
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


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """The cluster's own settings that bound how fast a change can be seen and made."""

    checkpoint_interval_s: float | None = None
    """None when checkpoints are off."""
    rescale_cooldown_s: float = 30.0
    """The least time between two rescales that the engine keeps."""
    resource_stabilization_s: float = 60.0
    """How long the engine waits for the slots it would like before it takes what there is."""
    slot_idle_s: float = 50.0
    """How long a slot that one job lets go of is kept before another job can have it."""
    metric_refresh_s: float = 10.0
    """How often the engine fetches metrics from its workers: values repeat in between."""
    adaptive: bool = True
    """Whether parallelism can change in place."""
    reactive: bool = False
    """Whether the engine itself uses all slots that there are, and takes no orders (Flink's `scheduler-mode`)."""
    shared_workers: bool = False
    """Whether all vertices run on the same workers, hence with one parallelism: queries of a Spark application do."""
    slots_per_task_manager: int = 1
    slots_per_task_manager_known: bool = True
    """Otherwise nobody can tell how many workers any slots take."""
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
    checkpointed_at: datetime | None = None
    """When the last completed checkpoint was; None when unknown, or where nobody asks for it."""
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
