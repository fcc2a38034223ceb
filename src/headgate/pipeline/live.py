"""The evaluator of the live cycle: each time a plain Spark batch over the last window of the log, with no state."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from headgate.model.identity import JobKey, VertexId
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.model.samples import JobSample, VertexSample
from headgate.model.tables import SAMPLES
from headgate.model.topology import Topology, Vertex
from headgate.model.windows import KEYS
from headgate.options.autoscaler import AutoscalerOptions
from headgate.pipeline.arrow import ANSWERS
from headgate.pipeline.evaluation import answer, evaluate_batches, no_windows, read_answers
from headgate.pipeline.plan import Plan
from headgate.pipeline.schemas import spark_schema
from headgate.pipeline.session import reported
from headgate.pipeline.windows import reduce_windows, within_window
from headgate.ports import Candidate
from headgate.samplelog.reader import LogReader
from headgate.samplelog.rows import sample_table


class SparkEvaluator:
    """A `ports.FleetEvaluator` over the samples log. One evaluation at a time."""

    def __init__(self, session: SparkSession, log: Path, *, collect_interval: timedelta) -> None:
        """
        Evaluate over a log.

        Args:
            session: from `pipeline.session`; its workers must be able to import Headgate.
            log: directory of the samples log, under the same path for every worker.
            collect_interval: time between two ticks, from which follows what is stale.
        """
        self._session = session
        self._reader = LogReader(log)
        self._collect_interval = collect_interval

    def evaluate(
        self, candidates: Sequence[Candidate], now: datetime, /
    ) -> Mapping[JobKey, EvaluatedMetrics | NotReady]:
        """
        Answer every candidate over its own window.

        Raises:
            UnreachableError: the log could not be read, or Spark failed.
            PermanentError: a newer Headgate wrote the log.
        """
        plan = Plan.of(candidates, now=now, collect_interval=self._collect_interval)
        files = self._reader.files("samples", plan.since, now)
        answers = read_answers(self._evaluated(files, plan)) if files and plan.jobs else {}
        silent = answer(plan.only(plan.jobs.keys() - answers.keys()), no_windows())
        return {key: answers[name] if name in answers else silent[key] for name, key in plan.keys.items()}

    def _evaluated(self, files: Sequence[Path], plan: Plan) -> pa.Table:
        with reported("the windows cannot be evaluated on Spark"):
            return evaluated(self._samples(files), plan).toArrow()

    def _samples(self, files: Sequence[Path]) -> DataFrame:
        return self._session.read.schema(spark_schema(SAMPLES)).parquet(*map(_address, files))


def evaluated(samples: DataFrame, plan: Plan) -> DataFrame:
    """Evaluate the planned jobs; one row of `ANSWERS` for each that has a sample in its window."""
    bounds = samples.sparkSession.createDataFrame(plan.bounds())
    return (
        samples.transform(within_window, bounds)
        .transform(reduce_windows)
        .repartition("job")
        .sortWithinPartitions(*KEYS)
        .mapInArrow(partial(evaluate_batches, plan=plan), spark_schema(ANSWERS))
    )


def warm_up(session: SparkSession) -> None:
    """
    Evaluate one vertex of a job that does not exist, for the classes and the code that this makes the JVM load.

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
    candidate = Candidate(sample=sample, options=AutoscalerOptions(), window_from=now)
    plan = Plan.of([candidate], now=now, collect_interval=timedelta(seconds=1))
    with reported("Spark does not work"):
        evaluated(session.createDataFrame(sample_table([sample])), plan).toArrow()


def _address(file: Path) -> str:
    """Name a file so that Spark takes no character of its path for a pattern."""
    return "file://" + re.sub(r"([\[\]{}*?\\])", r"\\\1", str(file.absolute()))
