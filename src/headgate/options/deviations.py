"""The places where Headgate decides otherwise than the reference autoscaler on purpose, one name each."""

from __future__ import annotations

from enum import StrEnum


class Parity(StrEnum):
    """Whose rules hold where the two differ."""

    CURRENT = "current"
    """Headgate's."""
    REFERENCE = "1.16.0"
    """The reference's, as of that version."""


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
    """
    PARTITIONS_BOUND = "partitions-bound"
    """A source never runs above its partitions, where further subtasks would idle (FLINK-40389)."""
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
