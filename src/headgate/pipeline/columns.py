"""Column functions: the statistics of one measure over the rows of a group, each an aggregate over primitives."""

from __future__ import annotations

import pyspark.sql.functions as F  # noqa: N812 (the name everybody gives it)
from pyspark.sql import Column

from headgate.model.measures import Measure
from headgate.model.windows import AVERAGED, STATISTICS, column


def where_known(measure: Measure, name: str) -> Column:
    """Give a column of the rows that have a value of the measure, null for the others."""
    return F.when(F.col(measure.column).isNotNull(), F.col(name))


def statistic(measure: Measure, name: str) -> Column:
    """
    Give one statistic of `model.windows` as an aggregate under its column's name.

    `min_by` and `max_by` skip rows whose tick is null, and a tick is there once a group. On primitives they keep
    Spark's hash aggregation, which a struct would not.
    """
    value = F.col(measure.column)
    aggregates = {
        "first": lambda: F.min_by(value, where_known(measure, "at_ms")),
        "first_ms": lambda: F.min(where_known(measure, "measured_ms")),
        "last": lambda: F.max_by(value, where_known(measure, "at_ms")),
        "last_ms": lambda: F.max(where_known(measure, "measured_ms")),
        "count": lambda: F.count(value),
        "sum": lambda: F.sum(value),
        "infinite": lambda: F.bit_or("infinite").bitwiseAND(F.lit(measure.bit)) != 0,
    }
    return aggregates[name]().alias(column(measure, name))


def all_statistics() -> list[Column]:
    """Give every statistic that a window keeps of a vertex, in the order of `model.windows`."""
    return [statistic(measure, name) for measure, names in STATISTICS.items() for name in names]


def job_statistics() -> list[Column]:
    """Give every statistic that a window keeps of a whole job, in the order of `model.windows`."""
    return [
        aggregate(measure.value).alias(column(measure, name))
        for measure in AVERAGED
        for name, aggregate in (("sum", F.sum), ("count", F.count))
    ]
