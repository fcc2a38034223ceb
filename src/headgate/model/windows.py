"""
Schemas of reduced windows, one row a (job, vertex, epoch) or a job: the contract between reducers and algorithm.

Columns are named `<measure column>__<statistic>`; values are the log's integers in thousandths, so that two reducers
can be equal to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping

from headgate.model.measures import JobMeasure, Measure

KEYS = ("job", "vertex", "epoch")
SPAN = ("samples", "first_at_ms", "last_at_ms")
"""Rows behind the group, and the first and last tick among them."""

TREND = ("first", "first_ms", "last", "last_ms", "count")
"""For a rate: the values of the first and the last tick, the earliest and the latest time at which one was measured."""

LEVEL = ("sum", "count", "infinite")
"""For a mean; `infinite` is a boolean."""

STATISTICS: Mapping[Measure, tuple[str, ...]] = {
    Measure.LAG: TREND,
    Measure.NUM_RECORDS_IN: TREND,
    Measure.NUM_RECORDS_OUT: TREND,
    Measure.ACCUMULATED_BUSY_TIME: TREND,
    Measure.LOAD: LEVEL,
    Measure.OBSERVED_TPR: LEVEL,
    Measure.NUM_RECORDS_IN_PER_SECOND: LEVEL,
    Measure.ARRIVED: TREND,
    Measure.FULLEST_SHARE: LEVEL,
    Measure.MEAN_LOAD: LEVEL,
}
"""
What a window keeps of each measure: what some formula reads, for each costs time over millions of samples.

A measure that is not named stays in the log and reaches no formula. `count` counts finite values; where it is 0
everything else but `infinite` is null.
"""


AVERAGED = (
    JobMeasure.HEAP_MEMORY_USED,
    JobMeasure.HEAP_MAX_USAGE_RATIO,
    JobMeasure.MANAGED_MEMORY_USED,
    JobMeasure.METASPACE_MEMORY_USED,
)
"""Job-wide measures of which a window keeps `sum` and `count`; of the others the latest value is all that counts."""


def column(measure: Measure | JobMeasure, statistic: str) -> str:
    """Name the column of one statistic of a measure."""
    return f"{measure.column}__{statistic}" if isinstance(measure, Measure) else f"{measure.value}__{statistic}"


COLUMNS = (*KEYS, *SPAN, *(column(measure, name) for measure, names in STATISTICS.items() for name in names))
"""All columns of a reduced window, in order."""

JOB_COLUMNS = ("job", *(column(measure, name) for measure in AVERAGED for name in ("sum", "count")))
"""All columns of the reduced window of a whole job, in order."""
