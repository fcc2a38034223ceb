"""A Spark application under the hand of the suites, seen from inside of its driver."""

from __future__ import annotations

from datetime import datetime, timedelta

from headgate.engines.spark.attached.collector import AttachedMetricCollector
from headgate.engines.spark.attached.failures import AttachedFailureHistory
from headgate.engines.spark.attached.jobs import AttachedJobListFetcher
from headgate.model.identity import JobKey
from headgate.model.measures import JobStatus
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import JobContext
from headgate.testing.conformance.metric_collector import TICK
from headgate.testing.fake_gateway import DrivenBatch, FakeGateway

OPTIONS = AutoscalerOptions()
TEXT = "java.lang.IllegalStateException: boom"


class AttachedStage:
    """One application with a query of two stages and one of a single stage."""

    def __init__(self) -> None:
        """Let it run for a while."""
        self.gateway = FakeGateway()
        self.gateway.now = TICK - timedelta(seconds=50)
        for name in ("count", "clean"):
            self.gateway.start_query(name)
        self._run(10)
        self.collector = AttachedMetricCollector(self.gateway, self.gateway.feed)
        self.fetcher = AttachedJobListFetcher(self.gateway, self.gateway.feed, OPTIONS)
        self.history = AttachedFailureHistory(self.gateway, self.gateway.feed)
        self.job = JobContext(key=JobKey("spark", "orders"), job_id="app-1", status=JobStatus.RUNNING, options=OPTIONS)
        self.jobs = [self.job]

    @property
    def now(self) -> datetime:
        """The application's clock."""
        return self.gateway.now

    async def pass_time(self) -> timedelta:
        """Let each query run its next batch."""
        began = self.gateway.now
        self._run(1)
        return self.gateway.now - began

    async def start_twin(self) -> str | None:
        """Start none: an application sees itself only."""
        return None

    async def fail_job(self) -> str:
        """Let a query fail, and somebody start it again."""
        query = self.gateway.active["clean"]
        self.gateway.fail_query("clean", TEXT)
        self.gateway.active["clean"] = query
        self.gateway.start_query("clean")
        return TEXT

    async def end_job(self) -> None:
        """Stop the application."""
        self.gateway.stop()

    async def go_silent(self) -> None:
        """Let the JVM give no answer."""
        self.gateway.go_silent()

    def _run(self, batches: int) -> None:
        for _ in range(batches):
            begun = self.gateway.now
            self.gateway.run_batch("count", DrivenBatch(tasks=(4, 2)), start=begun)
            self.gateway.run_batch("clean", start=begun)
            self.gateway.now = begun + timedelta(seconds=5)
