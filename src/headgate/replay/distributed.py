"""
A replay on Spark: it reduces the windows of all decisions at once, and whole jobs are decided for on the workers.

No sample reaches the driver, only one row for each job and verdict.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import reduce

import numpy as np
import pyarrow as pa
import pyspark.sql.functions as F  # noqa: N812 (the name everybody gives it)
from pyspark.sql import Column, DataFrame, SparkSession

from headgate.model.identity import JobKey
from headgate.model.tables import TABLES
from headgate.pipeline.arrow import JOB_WINDOWS, SERIES, WINDOWS
from headgate.pipeline.evaluation import Question, Windows
from headgate.pipeline.live import address
from headgate.pipeline.roster import Fleet
from headgate.pipeline.schemas import spark_schema
from headgate.pipeline.session import reported
from headgate.pipeline.windows import reduce_jobs, reduce_windows
from headgate.replay.past import Gap, Past
from headgate.replay.redeciding import Alternative, Redecider
from headgate.replay.stretch import Stretch
from headgate.replay.tallies import SCHEMA, Tally, tallied
from headgate.samplelog.layout import epoch_ms
from headgate.samplelog.reader import LogReader

_ASKS = pa.schema(
    [
        ("job", pa.string()),
        ("tick_ms", pa.int64()),
        ("from_ms", pa.int64()),
        ("until_ms", pa.int64()),
        ("sources", pa.list_(pa.string())),
    ]
)
"""
One row a decision that is to be made again: its window, both ends included, and the sources whose samples it wants, if
the input counts from its last change on.
"""

_BUCKET_MS = timedelta(minutes=15) // timedelta(milliseconds=1)
"""Samples and windows are brought together by job and by quarter of an hour: else each would meet each of its job."""

_JOBS_AT_ONCE = 16
"""How many jobs a worker has in its memory."""

_OF_PAST = ("decisions", "circumstances", "vertices", "jobs", "signals")
_LATEST = "latest"

Batches = Iterator[pa.RecordBatch]


def replay_on_spark(
    session: SparkSession, reader: LogReader, stretch: Stretch, alternative: Alternative
) -> tuple[Tally, ...]:
    """
    Replay a stretch of the log.

    Args:
        session: its workers have Headgate, and the log under the same path.
        reader: of the log.
        stretch: what of it.
        alternative: with what is decided again.

    Raises:
        UnreachableError: the log cannot be read, or Spark failed.
    """
    with reported("the replay failed on Spark"), _few_jobs_at_once(session):
        tables = {name: _table(session, reader, stretch, name) for name in stretch.since}
        with _kept(_pasts(tables)) as pasts, _kept(_asks(pasts, alternative)) as asks:
            rows = _tallies(pasts, asks, tables, alternative).toArrow().to_pylist()
    return tuple(Tally.read(row) for row in rows)


@contextmanager
def _kept(rows: DataFrame) -> Iterator[DataFrame]:
    """Keep rows that are used several times, until the end."""
    kept = rows.persist()
    try:
        yield kept
    finally:
        kept.unpersist()


def _table(session: SparkSession, reader: LogReader, stretch: Stretch, name: str) -> DataFrame:
    schema, since, until = spark_schema(TABLES[name]), stretch.since[name], stretch.until_of(name)
    files = reader.files(name, since, until)
    if not files:
        return session.createDataFrame([], schema)
    rows = session.read.schema(schema).parquet(*map(address, files))
    rows = rows.where(F.col("at_ms").between(epoch_ms(since), epoch_ms(until)))
    return rows if stretch.pattern == "*" else rows.where(_is_wanted(stretch.pattern))


def _is_wanted(pattern: str) -> Column:
    """Match a job's key or its name, as `Stretch.holds` does."""
    regex = "".join({"*": ".*", "?": "."}.get(each, re.escape(each)) for each in pattern)
    return F.col("job").rlike(f"(?s)^(?:[^/]*/)?{regex}$")


def _pasts(tables: Mapping[str, DataFrame]) -> DataFrame:
    """Give one row a job that was decided for: the rows of each table as a list."""
    asked = _listed(tables["decisions"], "decisions")
    others = [_listed(tables[name], name) for name in _OF_PAST if name != "decisions"]
    return reduce(lambda all_, each: all_.join(each, "job", "left"), others, asked)


def _listed(rows: DataFrame, name: str) -> DataFrame:
    return rows.groupBy("job").agg(F.collect_list(F.struct(*rows.columns)).alias(name))


def _asks(pasts: DataFrame, alternative: Alternative) -> DataFrame:
    return pasts.mapInArrow(_asks_of(alternative), spark_schema(_ASKS))


def _tallies(pasts: DataFrame, asks: DataFrame, tables: Mapping[str, DataFrame], alternative: Alternative) -> DataFrame:
    windows = reduce_windows(_within(tables["samples"], asks), "tick_ms")
    wide = reduce_jobs(_within(tables["jobs"], asks), "tick_ms")
    until = asks.select("job", F.col("until_ms").alias("at_ms")).distinct()
    latest = tables["samples"].join(until, ["job", "at_ms"])
    sources = asks.select("job", F.explode("sources").alias("vertex")).distinct()
    series = tables["samples"].join(sources, ["job", "vertex"]).select(*SERIES.names)
    parts = {"windows": windows, "job_windows": wide, "series": series, _LATEST: latest}
    whole = pasts
    for name, rows in parts.items():
        whole = whole.join(_listed(rows, name), "job", "left")
    return whole.mapInArrow(_decided_again(alternative), spark_schema(SCHEMA))


def _within(rows: DataFrame, asks: DataFrame) -> DataFrame:
    """Give each row once for each decision in whose window it is."""
    buckets = F.sequence(_bucket("from_ms"), _bucket("until_ms"))
    wanted = asks.withColumn("bucket", F.explode(buckets))
    near = rows.withColumn("bucket", _bucket("at_ms")).join(wanted, ["job", "bucket"])
    return near.where(F.col("at_ms").between(F.col("from_ms"), F.col("until_ms")))


def _bucket(column: str) -> Column:
    return F.floor(F.col(column) / F.lit(_BUCKET_MS))


@contextmanager
def _few_jobs_at_once(session: SparkSession) -> Iterator[None]:
    key = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = session.conf.get(key)
    session.conf.set(key, str(_JOBS_AT_ONCE))
    try:
        yield
    finally:
        session.conf.set(key, before or "10000")


def _asks_of(alternative: Alternative) -> Callable[[Batches], Batches]:
    """Give what tells, on a worker, over which windows jobs are to be evaluated."""

    def asks(batches: Batches) -> Batches:
        for batch in batches:
            rows = [row for past in _read(batch) for row in _windows_of(past, alternative)]
            yield from pa.Table.from_pylist(rows, schema=_ASKS).to_batches()

    return asks


def _windows_of(past: Past, alternative: Alternative) -> Iterator[dict[str, object]]:
    for moment in past.moments():
        known = None if isinstance(moment, Gap) else alternative.candidate(moment)
        if known and known.window_from <= known.window_until:
            yield {
                "job": str(past.job),
                "tick_ms": epoch_ms(moment.recorded.at),
                "from_ms": epoch_ms(known.window_from),
                "until_ms": epoch_ms(known.window_until),
                "sources": [] if known.arrivals_from is None else [v.id for v in known.sample.topology.sources],
            }


def _decided_again(alternative: Alternative) -> Callable[[Batches], Batches]:
    """Give what decides again, on a worker, for whole jobs."""

    def decided(batches: Batches) -> Batches:
        for batch in batches:
            windows = Reduced.of(batch)
            redecider = Redecider(alternative=alternative, windows=windows.at)
            steps = asyncio.run(redecider.steps(_read(batch)))
            rows = [tally.row for tally in tallied(steps)]
            yield from pa.Table.from_pylist(rows, schema=SCHEMA).to_batches()

    return decided


def _read(batch: pa.RecordBatch) -> Iterator[Past]:
    """Read the jobs of a batch."""
    names = [name for name in (*_OF_PAST, _LATEST) if name in batch.schema.names]
    for place, job in enumerate(batch.column("job").to_pylist()):
        own = {name: batch.column(name)[place].as_py() or () for name in names}
        yield Past(job=JobKey.parse(job), samples=own.pop(_LATEST, ()), **own)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduced:
    """The reduced windows of the jobs of a batch, by tick."""

    vertices: Mapping[int, pa.Table]
    jobs: Mapping[int, pa.Table]
    series: pa.Table
    """Samples of sources, of all ticks."""

    @classmethod
    def of(cls, batch: pa.RecordBatch) -> Reduced:
        """Take them from a batch."""
        return cls(
            vertices=_by_tick(batch.column("windows"), WINDOWS),
            jobs=_by_tick(batch.column("job_windows"), JOB_WINDOWS),
            series=_flat(batch.column("series"), SERIES),
        )

    def at(self, fleet: Fleet, question: Question) -> Windows:
        """Give those of a question's tick."""
        tick = epoch_ms(question.now)
        vertices = self.vertices.get(tick, WINDOWS.empty_table())
        return Windows.of(fleet, vertices, self.jobs.get(tick, JOB_WINDOWS.empty_table()), self.series)


def _by_tick(lists: pa.ListArray, schema: pa.Schema) -> Mapping[int, pa.Table]:
    flat = lists.flatten()
    if not len(flat):
        return {}
    rows = pa.Table.from_struct_array(flat).sort_by("tick_ms")
    ticks = rows["tick_ms"].to_numpy()
    begins = np.flatnonzero(np.diff(ticks, prepend=ticks[0] - 1))
    ends = [*begins[1:].tolist(), len(ticks)]
    whole = rows.select(schema.names)
    return {int(ticks[begin]): whole.slice(begin, end - begin) for begin, end in zip(begins, ends, strict=True)}


def _flat(lists: pa.ListArray, schema: pa.Schema) -> pa.Table:
    rows = lists.flatten()
    return pa.Table.from_struct_array(rows).select(schema.names) if len(rows) else schema.empty_table()
