"""The places where Headgate decides otherwise than the reference autoscaler on purpose, one name each."""

from __future__ import annotations

from enum import StrEnum


class Parity(StrEnum):
    """Whose rules hold where the two differ."""

    CURRENT = "current"
    """Headgate's."""
    REFERENCE = "1.16.0"
    """The reference's, as of that release (August 2026)."""


class Deviation(StrEnum):
    """A deliberate deviation; `docs/explanation/deviations.md` tells of each with its reason and its cases."""

    RECORDS_IN_FLIGHT = "records-in-flight"
    """
    Records in flight are demand.

    A slow vertex's backlog hides in its network buffers for minutes: the upstream writes 1000/s, the vertex reads
    660/s, and no source lags yet. Demand taken from what a vertex reads would say that it keeps up.
    """
    COUNTERS_FIRST = "counters-first"
    """
    Rates come from differences of counters; the engine's own rate gauge only stands in where there is no counter.

    The gauge is a moving average over about a minute, so it reports a step of the load that late.
    The busy time of the hottest subtask comes from counters, too, as a mean of samples does not fit a rate over time.
    """
    PARTITIONS_BOUND = "partitions-bound"
    """
    A source never runs above its partitions, where further subtasks would idle, whatever its alignment mode.

    The reference bounds it by its own modes since 1.16.0 (FLINK-40389), but not by `OFF`, nor in reactive mode.
    """
    BACKLOG_KEEPS = "backlog-keeps"
    """
    Nothing shrinks while a backlog is worked off.

    The reference only ignores such a wish as a cause; it is still carried out when another vertex has one.
    """
    POSITIVE_RESTARTS = "positive-restarts"
    """
    A restart never takes less than no time.

    A job that is rescaled in place may have been running since before; the reference then records a negative duration.
    """
    EXACT_CAPACITY = "exact-capacity"
    """
    Capacities have three decimals, like every rate, and are no whole numbers.

    The reference rounds a need of 0.4/s to 0, and so takes a vertex that emits a record a minute for one that needs
    nothing, or steps it by 100 %.
    """
    BUSY_KEEPS = "busy-keeps"
    """
    A vertex that is busier than its utilization target never shrinks, whatever is computed to come to it (FLINK-38538).
    """
    SKEW = "skew"
    """
    A vertex is not scaled for its hottest subtask alone: more subtasks do not divide a hot key (FLINK-30652).
    """
    SURE_LAG = "sure-lag"
    """
    Nothing shrinks while it is not known surely how much waits before a source.

    The reference takes a connector at its word, and a lag that nobody tells for none. A Kafka consumer that fetches far
    ahead tells of 0 records while thousands wait.
    """
    FORWARD_EQUAL = "forward-equal"
    """
    Both ends of a FORWARD edge keep equal parallelism.

    Flink silently makes it a REBALANCE otherwise, and the order of changes of a key is lost (FLINK-40780).
    """
    NO_DRAG = "no-drag"
    """A vertex within its band is not changed by one because another one has cause to change."""
    WORTH_RESTART = "worth-restart"
    """A job is not restarted to save less than that costs, as predicted or as measured on its own past restarts."""
    TRUE_QUOTA = "true-quota"
    """
    A quota bounds all that the job uses after a change.

    The reference counts the changing vertices only and rounds TaskManagers down, so that the real total may exceed it.
    """
    BOTTLENECK_LIMITS = "bottleneck-limits"
    """
    A vertex that cannot grow limits those before it: they are not enlarged for records that it cannot take
    (FLINK-31215). A sink that its last growth did not make faster counts as one.
    """
    SOUND_MEMORY = "sound-memory"
    """
    Memory is not tuned on what is not known, nor to settings that Flink would refuse to start with.

    The reference takes an unknown use for none.
    """
    FRESH_THRESHOLDS = "fresh-thresholds"
    """Thresholds follow a metric that a plugin replaces; the reference tests against those from before."""
    LOWER_BOUNDS = "lower-bounds"
    """
    A rescale keeps the lower bound that a vertex's resource requirements have, as far as it can.

    The reference's standalone process sets it to 1, and so lets the engine start a job with far too little.
    """
    SHARED_INPUTS = "shared-inputs"
    """
    Inputs that write elsewhere, too, share what their vertex reads.

    The reference takes each of them to bring all that it writes, and so scales for a side output as for the main one
    (FLINK-39939).
    """
    WINDOW_TOLERANCE = "window-tolerance"
    """A window counts as full when its first sample is late by two ticks of the collector: none is ever on time."""
    WHOLE_WINDOWS = "whole-windows"
    """
    Nothing is decided on a window of which a quarter is missing.

    The reference takes whatever samples lie within a full window, two are enough.
    """
