"""What evaluation yields for a vertex: the reference autoscaler's scaling metrics, current and averaged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from headgate.model.arrival import Arrival
from headgate.model.downtime import Downtime
from headgate.model.identity import VertexId
from headgate.model.lag import LagOrigin
from headgate.model.reasons import Reason


class ScalingMetric(StrEnum):
    """An evaluated metric; rates are records per second, LOAD is 0 to 1, LAG is records."""

    LOAD = "LOAD"
    TRUE_PROCESSING_RATE = "TRUE_PROCESSING_RATE"
    TARGET_DATA_RATE = "TARGET_DATA_RATE"
    CATCH_UP_DATA_RATE = "CATCH_UP_DATA_RATE"
    LAG = "LAG"
    PARALLELISM = "PARALLELISM"
    MAX_PARALLELISM = "MAX_PARALLELISM"
    NUM_SOURCE_PARTITIONS = "NUM_SOURCE_PARTITIONS"
    SCALE_UP_RATE_THRESHOLD = "SCALE_UP_RATE_THRESHOLD"
    SCALE_DOWN_RATE_THRESHOLD = "SCALE_DOWN_RATE_THRESHOLD"
    EXPECTED_PROCESSING_RATE = "EXPECTED_PROCESSING_RATE"
    RECOMMENDED_PARALLELISM = "RECOMMENDED_PARALLELISM"


@dataclass(frozen=True, slots=True, kw_only=True)
class VertexMetrics:
    """The evaluated metrics of one vertex, and the proposal that follows from its numbers alone."""

    metrics: Mapping[ScalingMetric, float]
    """What is known; a metric that could not be computed is absent."""
    needed_capacity: float | None
    """Records/s the vertex should be able to do at full busyness; None when unknown."""
    factor: float | None
    """By how much to multiply the parallelism, unclamped; `needed_capacity` over the true rate where both are known."""
    outside: bool
    """Whether the true rate lies outside its band, so that the job has cause to change."""
    limits: Mapping[Reason, float] = field(default_factory=dict)
    """Largest sensible factors, 1 or more, by what limits growth; empty where nothing does."""
    basis: str = ""
    """What the factor follows from, in words; empty: the utilization target."""


class JobMetric(StrEnum):
    """An evaluated metric of the whole job; memory in bytes, shares 0 to 1."""

    GC_PRESSURE = "GC_PRESSURE"
    HEAP_MAX_USAGE_RATIO = "HEAP_MAX_USAGE_RATIO"
    HEAP_MEMORY_USED = "HEAP_MEMORY_USED"
    MANAGED_MEMORY_USED = "MANAGED_MEMORY_USED"
    METASPACE_MEMORY_USED = "METASPACE_MEMORY_USED"
    NUM_TASK_SLOTS_USED = "NUM_TASK_SLOTS_USED"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobValue:
    """A job-wide metric: its latest value and its mean over the window, each None when unknown."""

    current: float | None = None
    average: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedMetrics:
    """One job, evaluated over its window."""

    vertices: Mapping[VertexId, VertexMetrics]
    """In topological order."""
    backlog: bool
    """Whether a source is so far behind that the job counts as working off a backlog."""
    coverage: float
    """How much of the metric window the samples span, 0 to 1."""
    samples: int
    """Least number of samples behind any vertex."""
    job: Mapping[JobMetric, JobValue] = field(default_factory=dict)
    """Job-wide metrics; one of which nothing is known may be absent."""
    arrival: Arrival | None = None
    """What is known of the input since it changed last; None where the whole window counts."""
    lag_origin: LagOrigin | None = None
    """Where the lag of its least known source is known from; None where the collector does not say."""
    brokers_unknown: bool = False
    """Whether a source reads Kafka and no brokers are declared for the job."""
    downtime: Downtime | None = None
    """How long a rescale would stop the job, where that was learnt; control fills it in."""
    balanced: bool = field(default=False, compare=False)
    """Whether the numbers alone say already that every vertex stays as it is; False says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotReady:
    """A job could not be evaluated, which is a normal answer."""

    reason: Reason
    message: str
