"""
The native reducer: samples to one row a (job, vertex, epoch) in Spark SQL, as `model.windows` names the columns.

It reduces and computes nothing; `algorithm.reduce` does the same with numpy, and both are equal to the last bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa
import pyspark.sql.functions as F  # noqa: N812 (the name everybody gives it)
from pyspark.sql import DataFrame

from headgate.model.windows import KEYS
from headgate.pipeline.arrow import BEGINS, ENDS
from headgate.pipeline.columns import all_statistics, job_statistics
from headgate.ports import Candidate
from headgate.samplelog.layout import epoch_ms

COARSE_MS = 10 * 60 * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """
    The instants that count for each job, epoch milliseconds, both ends included.

    Most jobs share theirs, so that only the others need be looked up for every sample.
    """

    since: int
    """The earliest begin of any job."""
    ends: pa.Table
    """One row of `ENDS`: the last instant, and the begin that holds for every job that is not among the others."""
    others: pa.Table
    """Rows of `BEGINS`."""

    @classmethod
    def of(cls, candidates: Sequence[Candidate], now: datetime) -> Bounds:
        """Give the bounds of some jobs, at least one."""
        begins = {str(one.sample.job): epoch_ms(one.window_from) for one in candidates}
        ((usual, _),) = Counter(begins.values()).most_common(1)
        others = {job: begin for job, begin in begins.items() if begin != usual}
        rows = pa.table([pa.array(others.keys(), pa.string()), pa.array(others.values(), pa.int64())], schema=BEGINS)
        ends = pa.table([[usual], [epoch_ms(now)]], schema=ENDS)
        return cls(since=min(begins.values()), ends=ends, others=rows)


def within_window(samples: DataFrame, bounds: Bounds) -> DataFrame:
    """
    Keep the rows of each job's own window.

    The instants come in as rows, not as literals: those would be part of the code that Spark generates, which would
    then be compiled anew in every cycle. Only a coarse literal is needed, for it keeps row groups from being read.
    """
    session = samples.sparkSession
    ends = F.broadcast(session.createDataFrame(bounds.ends))
    near = samples.where(F.col("at_ms") >= bounds.since - bounds.since % COARSE_MS).crossJoin(ends)
    begin = F.col("usual_ms")
    if bounds.others.num_rows:
        near = near.join(F.broadcast(session.createDataFrame(bounds.others)), "job", "left")
        begin = F.coalesce("window_from_ms", begin)
    return near.where(F.col("at_ms").between(begin, F.col("until_ms"))).select(samples.columns)


def reduce_windows(samples: DataFrame) -> DataFrame:
    """Reduce samples to windows."""
    span = (F.count(F.lit(1)).alias("samples"), F.min("at_ms").alias("first_at_ms"), F.max("at_ms").alias("last_at_ms"))
    return samples.groupBy(*KEYS).agg(*span, *all_statistics())


def reduce_jobs(samples: DataFrame) -> DataFrame:
    """Reduce job-wide samples to one row a job."""
    return samples.groupBy("job").agg(*job_statistics())
