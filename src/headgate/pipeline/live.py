"""
The evaluator of the live cycle: each time a plain Spark batch over the last window of the log, with no state.

Spark reads and reduces. The few rows that are left, one a vertex, are evaluated here: that takes a fraction of the time
of sending the job graphs to the workers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from headgate.model.identity import JobKey, VertexId
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.model.samples import JobSample, VertexSample
from headgate.model.tables import TABLES
from headgate.model.topology import Topology, Vertex
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.live import Live, in_force
from headgate.pipeline.arrow import JOB_WINDOWS, WINDOWS
from headgate.pipeline.evaluation import Question, Windows
from headgate.pipeline.roster import Roster
from headgate.pipeline.schemas import spark_schema
from headgate.pipeline.session import reported
from headgate.pipeline.windows import Bounds, reduce_jobs, reduce_windows, source_samples, within_window
from headgate.ports import Candidate
from headgate.samplelog.files import Address
from headgate.samplelog.reader import LogReader
from headgate.samplelog.rows import job_table, sample_table


class SparkEvaluator:
    """A `ports.FleetEvaluator` over the samples log. One evaluation at a time."""

    def __init__(self, session: SparkSession, log: Address, *, collect_interval: Live[timedelta]) -> None:
        """
        Evaluate over a log.

        Args:
            session: from `pipeline.session`.
            log: root of the samples log, which every worker finds under the same address.
            collect_interval: time between two ticks, from which follows what is stale.
        """
        self._session = session
        self._reader = LogReader(log)
        self._collect_interval = collect_interval
        self._roster = Roster()

    def evaluate(
        self, candidates: Sequence[Candidate], now: datetime, /
    ) -> Mapping[JobKey, EvaluatedMetrics | NotReady]:
        """
        Answer every candidate over its own window.

        Raises:
            UnreachableError: the log could not be read, or Spark failed.
            PermanentError: a newer Headgate wrote the log.
        """
        if not candidates:
            return {}
        question = Question(candidates=candidates, now=now, collect_interval=in_force(self._collect_interval))
        bounds, fleet = Bounds.of(candidates), self._roster.fleet(candidates)
        vertices = self._reduced("samples", question, bounds)
        jobs = self._reduced("jobs", question, bounds)
        return question.answers(fleet, Windows.of(fleet, vertices, jobs, self._series(question)))

    def _reduced(self, table: str, question: Question, bounds: Bounds) -> pa.Table:
        rows = self._rows(table, question)
        if rows is None:
            return _SCHEMAS[table].empty_table()
        with reported("the windows cannot be reduced on Spark"):
            return _reduced(table, rows, bounds)

    def _series(self, question: Question) -> pa.Table | None:
        fast = [one for one in question.candidates if one.arrivals_from is not None]
        rows = self._rows("samples", question) if fast else None
        if rows is None:
            return None
        with reported("the samples of the sources cannot be read on Spark"):
            return rows.transform(source_samples, fast).toArrow()

    def _rows(self, table: str, question: Question) -> DataFrame | None:
        """Give the rows that may count for a question; None where no file holds any."""
        files = self._reader.files(table, question.since, question.until)
        if not files:
            return None
        with reported("the log cannot be read on Spark"):
            return self._session.read.schema(spark_schema(TABLES[table])).parquet(*map(address, files))


_SCHEMAS = {"samples": WINDOWS, "jobs": JOB_WINDOWS}
_REDUCERS = {"samples": reduce_windows, "jobs": reduce_jobs}


def _reduced(table: str, rows: DataFrame, bounds: Bounds) -> pa.Table:
    reduced: pa.Table = rows.transform(within_window, bounds).transform(_REDUCERS[table]).toArrow()
    return reduced


def warm_up(session: SparkSession) -> None:
    """
    Reduce one sample of a job that does not exist, for the classes and the code that this makes the JVM load.

    Raises:
        UnreachableError: Spark failed.
    """
    now = datetime(2000, 1, 1, tzinfo=UTC)
    source = VertexId("source")
    sample = JobSample(
        job=JobKey("none", "none"),
        at=now,
        job_id="none",
        running_since=now,
        topology=Topology(vertices=(Vertex(id=source, name="source", parallelism=1, max_parallelism=1),)),
        vertices={source: VertexSample(measured_at=now)},
    )
    bounds = Bounds.of([Candidate(sample=sample, options=AutoscalerOptions(), window_from=now)])
    with TemporaryDirectory() as directory, reported("Spark does not work"):
        for table, rows in (("samples", sample_table([sample])), ("jobs", job_table([sample]))):
            _reduced(table, _read_back(session, rows, Path(directory) / f"{table}.parquet"), bounds)


def _read_back(session: SparkSession, rows: pa.Table, file: Path) -> DataFrame:
    """Give rows as Spark reads the log, from a file; from memory where workers would not find the file."""
    if not (session.sparkContext.master or "").startswith("local"):
        return session.createDataFrame(rows)
    pq.write_table(rows, file)
    return session.read.schema(spark_schema(rows.schema)).parquet(address(file))


def address(file: Address) -> str:
    """Name a file so that Spark takes no character of its address for a pattern."""
    url = f"file://{file.absolute()}" if isinstance(file, Path) else str(file)
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", url)
