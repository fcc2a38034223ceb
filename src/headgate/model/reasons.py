"""Why something was done or not: one CamelCase word each, the same in decisions, events, logs and metrics."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """A step's or an outcome's cause."""

    # what moved a proposal
    UTILIZATION_TARGET = "UtilizationTarget"
    """The parallelism at which the vertex would run at its utilization target."""
    SCALE_UP_FACTOR = "ScaleUpFactor"
    """Growth of one step was limited."""
    SCALE_DOWN_FACTOR = "ScaleDownFactor"
    """Shrinking of one step was limited."""
    MIN_PARALLELISM = "MinParallelism"
    """The smallest parallelism that the options allow."""
    MAX_PARALLELISM = "MaxParallelism"
    """The largest parallelism that the options allow."""
    VERTEX_MAX_PARALLELISM = "VertexMaxParallelism"
    """The engine's own bound: the number of key groups."""
    PARTITIONS = "Partitions"
    """A source gains nothing from more subtasks than partitions."""
    BACKLOG = "Backlog"
    """No shrinking while a backlog is worked off."""
    EXCLUDED = "Excluded"
    """The vertex is excluded by option or has finished."""

    # outcomes without a change
    BALANCED = "Balanced"
    """Every vertex is at its wanted parallelism."""
    WITHIN_BAND = "WithinBand"
    """Something would change, but no vertex is outside its utilization band."""
    STABILIZING = "Stabilizing"
    """The job (re)started too short a time ago for its samples to count."""
    WINDOW_FILLING = "WindowFilling"
    """The samples do not span the metric window yet."""
    NO_SAMPLES = "NoSamples"
    """Nothing was measured in the window."""
    STALE_METRICS = "StaleMetrics"
    """Nothing was measured lately."""
    MISSING_METRICS = "MissingMetrics"
    """A vertex lacks a measure that a formula needs."""
    PARTIAL_METRICS = "PartialMetrics"
    """Samples exist, but with a hole too large to decide on."""
    TOPOLOGY_CHANGED = "TopologyChanged"
    """The running graph is not the one that was evaluated."""
    JOB_NOT_RUNNING = "JobNotRunning"
    """The job is starting, restarting or gone."""
    JOB_UNREACHABLE = "JobUnreachable"
    """The job's cluster, or the job's own answers, do not come."""
    RESCALE_IN_FLIGHT = "RescaleInFlight"
    """An earlier change has not yet reached its parallelism."""
    PARALLELISM_REJECTED = "ParallelismRejected"
    """The same change was refused or not reached lately and is remembered until it expires."""
    CYCLE_FAILED = "CycleFailed"
    """Something unexpected went wrong with this job in this cycle; an event says what."""
    DISABLED = "Disabled"
    """The autoscaler is off for this job."""

    # outcomes with a change
    ADVICE = "Advice"
    """What would be done; nothing is, in advice mode."""
    RESCALED = "Rescaled"
    """The engine was asked for the new parallelism."""
