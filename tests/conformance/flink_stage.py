"""A fake Flink under the hand of the suites: what collector, realizer and job list are tested in front of."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from headgate.config.jobs import JobSettings
from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.collector import FlinkMetricCollector
from headgate.engines.flink.exceptions import FlinkFailureHistory
from headgate.engines.flink.jobs import FlinkJobListFetcher
from headgate.engines.flink.numbers import instant
from headgate.engines.flink.realizer import ResourceRequirementsRealizer
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobStatus
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import ClusterOptions
from headgate.ports import JobContext
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import FakeJob, chain
from headgate.testing.faults import Fault, FaultKind

OPTIONS = AutoscalerOptions()


class FlinkStage:
    """One fake cluster with equal jobs, whose rescales take a minute."""

    def __init__(self, server: FakeFlink, client: FlinkClient, jobs: Sequence[FakeJob]) -> None:
        """Put the Flink adapters in front of the server."""
        clients = {client.cluster: client}
        self.collector = FlinkMetricCollector(clients)
        self.realizer = ResourceRequirementsRealizer(clients)
        self.history = FlinkFailureHistory(clients)
        self.fetcher = FlinkJobListFetcher(clients, lambda *_: JobSettings(options=OPTIONS))
        self.jobs = [
            JobContext(
                key=JobKey(client.cluster, job.name), job_id=job.job_id, status=JobStatus.RUNNING, options=OPTIONS
            )
            for job in jobs
        ]
        self.job = self.jobs[0]
        self.server = server
        self._running = jobs[0]
        self.wish = {VertexId(jobs[0].vertices[1].id): 4}
        self.impossible = {VertexId(jobs[0].vertices[1].id): jobs[0].vertices[1].max_parallelism + 1}

    def asked(self) -> Mapping[VertexId, int]:
        """Give the upper bounds."""
        return {VertexId(one.id): one.upper_bound or one.parallelism for one in self._running.vertices}

    def requests(self) -> int:
        """Count the requirements that were sent."""
        return self.server.asked("/resource-requirements", "PUT")

    @property
    def now(self) -> datetime:
        """Give the JobManager's clock."""
        return instant(self.server.now_ms)

    async def fail_job(self) -> str:
        """Let all tasks of the first job fail."""
        self._running.advance_to(self.server.now_ms)
        self._running.fail(
            "java.lang.Exception: out of luck\n\tat org.Work.run(Work.java:1)\nCaused by: java.lang.Error"
        )
        return "Exception: out of luck\nCaused by: java.lang.Error"

    async def pass_time(self) -> timedelta:
        """Let ten seconds pass."""
        self.server.advance(10)
        return timedelta(seconds=10)

    async def start_twin(self) -> str | None:
        """Submit the first job once more."""
        self.server.advance(1)
        self.server.add(chain(job_id="f" * 32, name=self._running.name, vertices=3))
        return "f" * 32

    async def end_job(self) -> None:
        """Restart the JobManager, as far as the first job can tell."""
        self.server.vanish(self._running.job_id)

    async def go_silent(self) -> None:
        """Let every connection break."""
        self.server.plant(Fault(kind=FaultKind.RESET))


@asynccontextmanager
async def flink_stage(jobs: int = 1) -> AsyncIterator[FlinkStage]:
    """Serve so many jobs that have run for half a minute."""
    running = [chain(job_id=f"{number + 1:032x}", name=f"job-{number}", vertices=3) for number in range(jobs)]
    for job in running:
        job.rescale_delay_s = 60
    async with FakeFlink(running) as server:
        server.advance(30)
        async with FlinkClient(ClusterOptions(name="fake", url=server.url)) as client:
            yield FlinkStage(server, client, running)
