"""
The runs of jobs and the decisions that acted, read on Spark from the log.

Spark reduces ticks to runs; what a rescale is, `downtime_runs` says.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pyspark.sql.functions as F  # noqa: N812 (the name everybody gives it)
from pyspark.sql import Column, DataFrame, SparkSession

from headgate.model.decision import Outcome
from headgate.model.measures import SUBUNIT, JobMeasure
from headgate.model.reasons import Reason
from headgate.model.tables import TABLES
from headgate.pipeline.downtime_runs import Run, SeenRescale, rescales_of
from headgate.pipeline.live import address
from headgate.pipeline.schemas import spark_schema
from headgate.pipeline.session import in_pool, reported
from headgate.samplelog.files import Address
from headgate.samplelog.layout import epoch_ms
from headgate.samplelog.reader import LogReader

_LOOK_BACK = timedelta(days=7)
"""How far back the first reading goes, where the log still holds it."""

_NEWEST = 1_000
"""Decisions of one reading, an hour's of a large fleet and a week's of a small one: they bound what ticks are read."""

_POOL = "learning"
"""Of Spark's scheduler."""

_MARGIN = timedelta(hours=1)
"""What is read before a decision, and again by the next reading: a rescale under way is seen whole by one of them."""


class LogRescales:
    """Finds the rescales of a log, each reading those that came since the one before. One reading at a time."""

    def __init__(self, session: Callable[[], SparkSession | None], log: Address) -> None:
        """
        Read nothing yet.

        Args:
            session: gives the session that the evaluation opened; None while there is none.
            log: root of the samples log.
        """
        self._session = session
        self._reader = LogReader(log)
        self._read_until: datetime | None = None

    def rescales(self, now: datetime, /) -> tuple[SeenRescale, ...]:
        """
        Give the rescales since the last call, some of them again; none while there is no session.

        Raises:
            UnreachableError: the log could not be read, or Spark failed; the next call reads the same again.
        """
        session = self._session()
        if session is None:
            return ()
        since = now - _LOOK_BACK if self._read_until is None else self._read_until - _MARGIN
        with reported("rescales cannot be read on Spark"), in_pool(session, _POOL):
            seen = self._between(session, since, now)
        self._read_until = now
        return seen

    def _between(self, session: SparkSession, since: datetime, until: datetime) -> tuple[SeenRescale, ...]:
        acted = self._acted(session, since, until)
        if not acted:
            return ()
        first_ms = min(instant for instants in acted.values() for instant in instants)
        begin = max(datetime.fromtimestamp(first_ms / 1000, UTC) - _MARGIN, since - _MARGIN)
        jobs = session.createDataFrame([(job,) for job in acted], "job string")
        runs = _rows(self._table(session, "jobs", begin, until).transform(of_jobs, jobs).transform(reduce_runs))
        # At its first tick of an hour each job's graph is told again.
        hour = begin.replace(minute=0, second=0, microsecond=0)
        graphs = _rows(self._table(session, "vertices", hour, until).transform(of_jobs, jobs).transform(reduce_graphs))
        return tuple(rescales_of(_runs(runs, graphs), acted))

    def _acted(self, session: SparkSession, since: datetime, until: datetime) -> Mapping[str, Sequence[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for row in _rows(self._table(session, "decisions", since, until).transform(newest_that_acted)):
            found[row["job"]].append(row["at_ms"])
        return found

    def _table(self, session: SparkSession, name: str, since: datetime, until: datetime) -> DataFrame:
        schema, files = spark_schema(TABLES[name]), self._reader.files(name, since, until)
        if not files:
            return session.createDataFrame([], schema)
        rows = session.read.schema(schema).parquet(*map(address, files))
        return rows.where(F.col("at_ms").between(epoch_ms(since), epoch_ms(until)))


def newest_that_acted(decisions: DataFrame) -> DataFrame:
    """Keep job and time of the newest decisions that were put into effect."""
    acted = (F.col("outcome") == Outcome.RESCALE.value) & (F.col("reason") == Reason.RESCALED.value)
    return decisions.where(acted).select("job", "at_ms").orderBy(F.desc("at_ms"), "job").limit(_NEWEST)


def of_jobs(rows: DataFrame, jobs: DataFrame) -> DataFrame:
    """Keep the rows of these jobs."""
    return rows.join(F.broadcast(jobs), "job", how="left_semi")


def reduce_runs(jobs: DataFrame) -> DataFrame:
    """Reduce ticks to runs, a row each."""
    return jobs.groupBy("job", "job_id", "running_since_ms").agg(
        F.min("at_ms").alias("first_ms"),
        F.max("at_ms").alias("last_ms"),
        *(_latest(measure) for measure in (JobMeasure.STATE_SIZE, JobMeasure.LAST_DOWNTIME)),
    )


def reduce_graphs(vertices: DataFrame) -> DataFrame:
    """Reduce vertices to the parallelism of their graph as one text, a row each (job, tick)."""
    each = F.concat_ws("=", "vertex", F.col("parallelism").cast("string"))
    together = F.array_join(F.array_sort(F.collect_set(each)), ",")
    return vertices.groupBy("job", "at_ms").agg(together.alias("parallelism"))


def _latest(measure: JobMeasure) -> Column:
    known = F.when(F.col(measure.value).isNotNull(), F.col("at_ms"))
    return F.max_by(measure.value, known).alias(measure.value)


def _rows(frame: DataFrame) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = frame.toArrow().to_pylist()
    return rows


def _runs(rows: Sequence[Mapping[str, Any]], graphs: Sequence[Mapping[str, Any]]) -> Iterator[Run]:
    told: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for graph in sorted(graphs, key=lambda graph: graph["at_ms"]):
        told[graph["job"]].append((graph["at_ms"], graph["parallelism"]))
    for row in rows:
        yield Run(
            job=row["job"],
            job_id=row["job_id"],
            since_ms=row["running_since_ms"],
            first_ms=row["first_ms"],
            last_ms=row["last_ms"],
            parallelism=_latest_graph(told[row["job"]], row["last_ms"]),
            state_bytes=_number(row[JobMeasure.STATE_SIZE]),
            downtime_s=_number(row[JobMeasure.LAST_DOWNTIME]),
        )


def _latest_graph(told: Sequence[tuple[int, str]], at_ms: int) -> str | None:
    place = bisect_right(told, at_ms, key=lambda graph: graph[0])
    return told[place - 1][1] if place else None


def _number(stored: int | None) -> float | None:
    return None if stored is None else stored / SUBUNIT
