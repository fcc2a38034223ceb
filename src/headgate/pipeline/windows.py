"""
The native reducer: samples to one row a (job, vertex, epoch) in Spark SQL, as `model.windows` names the columns.

It reduces and computes nothing; `algorithm.reduce` does the same with numpy, and both are equal to the last bit.
"""

from __future__ import annotations

import pyspark.sql.functions as F  # noqa: N812 (the name everybody gives it)
from pyspark.sql import DataFrame

from headgate.model.windows import KEYS
from headgate.pipeline.columns import all_statistics


def within_window(samples: DataFrame, jobs: DataFrame) -> DataFrame:
    """Keep the samples of each job's own window; `jobs` (job, window_from_ms, window_to_ms) is small."""
    bounds = jobs.select("job", "window_from_ms", "window_to_ms")
    inside = F.col("at_ms").between(F.col("window_from_ms"), F.col("window_to_ms"))
    return samples.join(F.broadcast(bounds), "job", "inner").where(inside).select(samples.columns)


def reduce_windows(samples: DataFrame) -> DataFrame:
    """Reduce samples to windows."""
    span = (F.count(F.lit(1)).alias("samples"), F.min("at_ms").alias("first_at_ms"), F.max("at_ms").alias("last_at_ms"))
    return samples.groupBy(*KEYS).agg(*span, *all_statistics())
