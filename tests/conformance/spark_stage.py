"""A fake Spark cluster as the suites need it: applications of one query of two stages, on one executor."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path

from headgate.config.jobs import JobSettings
from headgate.engines.spark.outside.cluster import SparkCluster
from headgate.engines.spark.outside.collector import SparkFailureHistory, SparkMetricCollector
from headgate.engines.spark.outside.jobs import SparkJobListFetcher
from headgate.engines.spark.outside.realizer import SparkScalingRealizer
from headgate.model.identity import VertexId
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.reactive import WorkersOptions
from headgate.options.spark import SparkOptions
from headgate.ports import Workers
from headgate.testing.conformance.metric_collector import TICK
from headgate.testing.fake_spark import FakeBatch, FakeSpark, FakeSparkApplication
from headgate.testing.fake_web import WebAnswer

BATCH = FakeBatch(tasks=(4, 3))
QUERY = "clean"


class FakeWorkers:
    """A provider whose workers come at once, and that notes what it is asked for."""

    def __init__(self, wanted: int = 1) -> None:
        """Have as many as are wanted."""
        self.wanted = wanted
        self.requests: list[int] = []

    async def workers(self) -> Workers:
        """Count them."""
        return Workers(wanted=self.wanted, ready=self.wanted)

    async def request(self, count: int, /) -> bool:
        """Note it."""
        if count == self.wanted:
            return False
        self.requests.append(count)
        self.wanted = count
        return True

    async def reconfigure(self, _settings: Mapping[str, str], /) -> bool:
        """Change nothing."""
        return False

    async def close(self) -> None:
        """Do nothing."""


class SparkStage:
    """Applications, what looks at them, and a clock that stands in their logs."""

    def __init__(self, spark: FakeSpark, *, jobs: int) -> None:
        """Start them."""
        self._spark = spark
        options = SparkOptions(
            name="spark",
            master=spark.url,
            event_log_dir=spark.log_dir,
            workers=WorkersOptions(provider="workers", most=4),
        )
        self.cluster = SparkCluster(options)
        self.workers = self.cluster.provider = FakeWorkers()
        self.fetcher = SparkJobListFetcher(self.cluster, lambda *_: JobSettings(options=AutoscalerOptions()))
        self.collector = SparkMetricCollector(self.cluster)
        self.history = SparkFailureHistory(self.cluster)
        self.realizer = SparkScalingRealizer([self.cluster])
        self._ids = [self._start(f"job {number}") for number in range(jobs)]
        self._first: FakeSparkApplication = spark.applications[self._ids[0]]

    async def look(self) -> None:
        """Find the jobs and the vertices of the first."""
        self.jobs = (await self.fetcher.fetch()).jobs
        self.job = self.jobs[0]
        self._vertices = tuple((await self.collector.query_topology(self.job)).by_id)
        self.wish, self.impossible = dict.fromkeys(self._vertices, 3), dict.fromkeys(self._vertices, 5)

    @property
    def now(self) -> datetime:
        """Give the clock of the first application."""
        return self._first.now

    def asked(self) -> Mapping[VertexId, int]:
        """Give what the workers that are wanted come to."""
        return dict.fromkeys(self._vertices, self.workers.wanted)

    def requests(self) -> int:
        """Count the changes."""
        return len(self.workers.requests)

    async def pass_time(self) -> timedelta:
        """Let every application run a batch."""
        for one in self._spark.applications.values():
            one.run_batch(QUERY, BATCH)
        return BATCH.duration

    async def fail_job(self) -> str:
        """Let the query fail in its next batch, and be started again."""
        self._first.run_batch(QUERY, BATCH)
        self._first.fail_query(QUERY, "org.apache.spark.SparkException: the sink is full")
        self._first.start_query(QUERY)
        return "the sink is full"

    async def start_twin(self) -> str:
        """Start another one of the same name."""
        return self._start("job 0")

    async def end_job(self) -> None:
        """Let the first one end."""
        self._spark.end(self._ids[0])

    async def go_silent(self) -> None:
        """Let the master fail."""
        self._spark.say_instead(WebAnswer(status=500, text="oh"))

    def _start(self, name: str) -> str:
        started = self._spark.start(name)
        application = self._spark.applications[started]
        application.now = TICK - BATCH.duration
        application.add_executor()
        application.start_query(QUERY)
        application.run_batch(QUERY, BATCH)
        return started


@asynccontextmanager
async def spark_stage(log_dir: Path, *, jobs: int = 1) -> AsyncIterator[SparkStage]:
    """Serve them."""
    async with FakeSpark(log_dir) as spark:
        stage = SparkStage(spark, jobs=jobs)
        await stage.look()
        yield stage
        await stage.cluster.close()
