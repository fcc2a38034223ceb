"""
Schema of a reduced window: one row a (job, vertex, epoch), the contract between the reducers and the algorithm.

Columns are named `<measure column>__<statistic>`; values are the log's integers in thousandths, so that two reducers
can be equal to the last bit.
"""

from __future__ import annotations

from headgate.model.samples import Measure, MeasureKind

KEYS = ("job", "vertex", "epoch")
SPAN = ("samples", "first_at_ms", "last_at_ms")
"""Rows behind the group, and the first and last tick among them."""

COUNTER_STATISTICS = ("first", "first_ms", "last", "last_ms", "count")
GAUGE_STATISTICS = (*COUNTER_STATISTICS, "sum", "max", "infinite")
"""`infinite` is a boolean, `count` counts finite values; where it is 0 everything else is null."""


def statistics(measure: Measure) -> tuple[str, ...]:
    """Name the statistics that a window keeps of a measure."""
    return COUNTER_STATISTICS if measure.kind is MeasureKind.COUNTER else GAUGE_STATISTICS


def column(measure: Measure, statistic: str) -> str:
    """Name the column of one statistic of a measure."""
    return f"{measure.column}__{statistic}"


COLUMNS = (*KEYS, *SPAN, *(column(m, s) for m in Measure for s in statistics(m)))
"""All columns of a reduced window, in order."""
