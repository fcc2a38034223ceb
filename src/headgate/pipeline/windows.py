"""
The native reducer: samples to one row a (job, vertex, epoch) in Spark SQL, as `model.windows` names the columns.

It reduces and computes nothing; `algorithm.reduce` does the same with numpy, and both are equal to the last bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyspark.sql.functions as F  # noqa: N812 (the name everybody gives it)
from pyspark.sql import DataFrame

from headgate.model.windows import KEYS
from headgate.pipeline.arrow import KEYS_OF_VERTICES, OTHERS, SERIES, USUAL
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
    usual: pa.Table
    """One row of `USUAL`: the bounds of every job that is not among the others."""
    others: pa.Table
    """Rows of `OTHERS`."""

    @classmethod
    def of(cls, candidates: Sequence[Candidate]) -> Bounds:
        """Give the bounds of some jobs, at least one."""
        bounds = {str(one.sample.job): _ends(one) for one in candidates}
        ((usual, _),) = Counter(bounds.values()).most_common(1)
        others = [
            {"job": job, "window_from_ms": begin, "window_until_ms": end}
            for job, (begin, end) in bounds.items()
            if (begin, end) != usual
        ]
        return cls(
            since=min(begin for begin, _ in bounds.values()),
            usual=pa.table([[usual[0]], [usual[1]]], schema=USUAL),
            others=pa.Table.from_pylist(others, schema=OTHERS),
        )


def _ends(candidate: Candidate) -> tuple[int, int]:
    return epoch_ms(candidate.window_from), epoch_ms(candidate.window_until)


def within_window(samples: DataFrame, bounds: Bounds) -> DataFrame:
    """
    Keep the rows of each job's own window.

    The instants come in as rows, not as literals: those would be part of the code that Spark generates, which would
    then be compiled anew in every cycle. Only a coarse literal is needed, for it keeps row groups from being read.
    """
    session = samples.sparkSession
    usual = F.broadcast(session.createDataFrame(bounds.usual))
    near = samples.where(F.col("at_ms") >= bounds.since - bounds.since % COARSE_MS).crossJoin(usual)
    begin, end = F.col("usual_from_ms"), F.col("usual_until_ms")
    if bounds.others.num_rows:
        near = near.join(F.broadcast(session.createDataFrame(bounds.others)), "job", "left")
        begin, end = F.coalesce("window_from_ms", begin), F.coalesce("window_until_ms", end)
    return near.where(F.col("at_ms").between(begin, end)).select(samples.columns)


def source_samples(samples: DataFrame, candidates: Sequence[Candidate]) -> DataFrame:
    """Give what tells what comes into these jobs, at least one, since it is looked at: samples of their sources."""
    bounds = Bounds.of([replace(one, window_from=one.looks_from) for one in candidates])
    sources = samples.sparkSession.createDataFrame(pa.Table.from_pylist(_sources(candidates), schema=KEYS_OF_VERTICES))
    near = samples.transform(within_window, bounds).join(F.broadcast(sources), ["job", "vertex"])
    return near.select(*SERIES.names)


def _sources(candidates: Sequence[Candidate]) -> list[dict[str, str]]:
    return [
        {"job": str(one.sample.job), "vertex": vertex.id}
        for one in candidates
        for vertex in one.sample.topology.sources
    ]


def reduce_windows(samples: DataFrame, *apart: str) -> DataFrame:
    """Reduce samples to windows, those with other values in the columns named apart."""
    span = (F.count(F.lit(1)).alias("samples"), F.min("at_ms").alias("first_at_ms"), F.max("at_ms").alias("last_at_ms"))
    return samples.groupBy(*KEYS, *apart).agg(*span, *all_statistics())


def reduce_jobs(samples: DataFrame, *apart: str) -> DataFrame:
    """Reduce job-wide samples to one row a job, those with other values in the columns named apart."""
    return samples.groupBy("job", *apart).agg(*job_statistics())
