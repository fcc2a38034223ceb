"""Column functions: the statistics of one measure over the rows of a group, each an aggregate over primitives."""

from __future__ import annotations

import pyspark.sql.functions as F  # noqa: N812 (the name everybody gives it)
from pyspark.sql import Column

from headgate.model.samples import Measure
from headgate.model.windows import column, statistics


def known_at(measure: Measure) -> Column:
    """Give the tick of a row that has a value of the measure, null for the others; a tick is there once a group."""
    return F.when(F.col(measure.column).isNotNull(), F.col("at_ms"))


def statistic(measure: Measure, name: str) -> Column:
    """
    Give one statistic of `model.windows` as an aggregate under its column's name.

    `min_by` and `max_by` skip rows whose tick is null. On primitives they keep Spark's hash aggregation, which a struct
    would not.
    """
    value, measured_at, at = F.col(measure.column), F.col("measured_ms"), known_at(measure)
    aggregates = {
        "first": lambda: F.min_by(value, at),
        "first_ms": lambda: F.min_by(measured_at, at),
        "last": lambda: F.max_by(value, at),
        "last_ms": lambda: F.max_by(measured_at, at),
        "count": lambda: F.count(value),
        "sum": lambda: F.sum(value),
        "max": lambda: F.max(value),
        "infinite": lambda: F.bit_or("infinite").bitwiseAND(F.lit(measure.bit)) != 0,
    }
    return aggregates[name]().alias(column(measure, name))


def all_statistics() -> list[Column]:
    """Give every statistic of every measure, in the order of `model.windows`."""
    return [statistic(measure, name) for measure in Measure for name in statistics(measure)]
