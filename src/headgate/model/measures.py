"""
The names of what is measured of vertices and jobs, and the states of jobs.

The names of the measures are the reference autoscaler's; the table schemas in `model.tables` are derived from them.
"""

from __future__ import annotations

import math
from enum import Enum, StrEnum

SUBUNIT = 1000
"""Integers that are kept per unit: three decimals, the precision the reference autoscaler rounds to."""


def as_kept(value: float) -> float:
    """Give a value as the log keeps it, in whole thousandths; what is not finite is given back."""
    scaled = value * SUBUNIT
    return round(scaled) / SUBUNIT if math.isfinite(scaled) else value


class MeasureKind(Enum):
    """How a measure moves in time, hence what a window keeps of it."""

    COUNTER = "counter"
    """Only grows, until a task restarts; a window keeps its ends."""
    GAUGE = "gauge"
    """Moves freely; a window keeps its ends, sum, count and maximum."""


class Measure(Enum):
    """
    One measured quantity of a vertex: its column's name, its kind, and the place of its bit in a row's `infinite` mask.

    The place is part of every file of the log and stays with its measure. A new measure takes the next one, wherever it
    stands here, and the place of a measure that is taken away is not given again.
    """

    LAG = ("lag_records", MeasureKind.GAUGE, 0)
    """Records waiting in front of a source."""
    NUM_RECORDS_IN = ("records_in", MeasureKind.COUNTER, 1)
    """Records read by all subtasks; a source's own reads, see the collector."""
    NUM_RECORDS_OUT = ("records_out", MeasureKind.COUNTER, 2)
    """Records written by all subtasks to all outputs."""
    ACCUMULATED_BUSY_TIME = ("busy_ms", MeasureKind.COUNTER, 3)
    """Busy milliseconds summed over subtasks."""
    ACCUMULATED_IDLE_TIME = ("idle_ms", MeasureKind.COUNTER, 4)
    """Idle milliseconds summed over subtasks."""
    ACCUMULATED_BACKPRESSURED_TIME = ("backpressured_ms", MeasureKind.COUNTER, 5)
    """Back-pressured milliseconds summed over subtasks."""
    LOAD = ("load", MeasureKind.GAUGE, 6)
    """Busy share, 0 to 1, of the hottest or coldest subtask since the sample before (aggregator MAX or MIN)."""
    OBSERVED_TPR = ("observed_tpr", MeasureKind.GAUGE, 7)
    """Records/s a source really did while it was behind, corrected for back-pressure; infinite when idle."""
    NUM_RECORDS_IN_PER_SECOND = ("records_in_per_s", MeasureKind.GAUGE, 8)
    """The engine's own rate gauge: a fallback, it lags by up to a minute."""
    LAG_ORIGIN = ("lag_origin", MeasureKind.GAUGE, 9)
    """Where the lag is known from, a `model.lag.LagOrigin`; of micro-batch queries, for jobs see `JobMeasure`."""
    TASKS = ("tasks", MeasureKind.GAUGE, 10)
    """Tasks that a micro-batch is cut into at this stage."""
    ROW_COST = ("row_cost_us", MeasureKind.GAUGE, 11)
    """Microseconds of task time that one row of a micro-batch more takes at this stage."""
    ROW_COST_ERROR = ("row_cost_error_us", MeasureKind.GAUGE, 12)
    """Half the width of the interval of `ROW_COST`; infinite while nothing can be told."""
    TASK_OVERHEAD = ("task_overhead_ms", MeasureKind.GAUGE, 13)
    """Milliseconds of task time that a micro-batch takes at this stage however few its rows are, all tasks together."""
    BATCH_OVERHEAD = ("batch_overhead_ms", MeasureKind.GAUGE, 14)
    """Milliseconds of a micro-batch outside of its tasks: planning, offsets, commits; on a query's first stage."""
    BATCH_OVERHEAD_ERROR = ("batch_overhead_error_ms", MeasureKind.GAUGE, 15)
    """Half the width of the interval of `BATCH_OVERHEAD`; infinite while nothing can be told."""
    BATCH_DURATION = ("batch_ms", MeasureKind.GAUGE, 16)
    """Milliseconds that the last micro-batch took, from its trigger to its commit; on a query's first stage."""
    BATCH_INTERVAL = ("batch_interval_ms", MeasureKind.GAUGE, 17)
    """Milliseconds between two triggers; absent where one batch follows the other at once. On a query's first stage."""
    BATCH_LIMIT = ("batch_limit_rows", MeasureKind.GAUGE, 18)
    """Most rows that a micro-batch may take from the sources; absent without a limit. On a query's first stage."""
    BATCH_PLANNING = ("batch_planning_ms", MeasureKind.GAUGE, 19)
    """Milliseconds of `BATCH_OVERHEAD` in which no task could run; absent where the engine does not tell."""
    BATCH_ROWS = ("batch_rows", MeasureKind.GAUGE, 20)
    """Rows of a usual micro-batch lately; on a query's first stage."""
    ARRIVED = ("arrived_records", MeasureKind.COUNTER, 21)
    """Records that were ever written to what a source reads, by the offsets that its owner tells: read or not."""
    FULLEST_SHARE = ("fullest_share", MeasureKind.GAUGE, 22)
    """Share, 0 to 1, of what waits before a source and lately came in that is in one partition of it."""
    MEAN_LOAD = ("mean_load", MeasureKind.GAUGE, 23)
    """Busy share, 0 to 1, of a subtask on average over all of them, for the same time as `LOAD` beside it."""

    def __init__(self, column: str, kind: MeasureKind, bit: int) -> None:
        """Keep the parts of the declaration under names."""
        self.column = column
        self.kind = kind
        self.bit = 1 << bit
        """The measure's bit in a row's `infinite` mask."""


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
    STATE_SIZE = "state_bytes"
    """Size of the last completed checkpoint: the job's state."""
    LAST_DOWNTIME = "last_downtime_s"
    """Seconds for which the job, under this id or the one before it, did not run before its latest start."""
    LAG_ORIGIN = "lag_origin"
    """Where the lag of its least known source is known from, a `model.lag.LagOrigin`."""
    OUTAGE = "outage"
    """By what it is told that a source cannot reach what it reads, a `model.lag.Outage`; absent while all can."""
    BROKERS_UNKNOWN = "brokers_unknown"
    """1 where a source reads Kafka and no brokers are declared for its job; absent where they are, or are not asked."""


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
