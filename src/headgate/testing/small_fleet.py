"""Three fake Flink clusters, the last of which answers nothing but errors, and what two collectors see of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.collector import FlinkMetricCollector
from headgate.engines.flink.fleet import Crew, FleetMetricCollector
from headgate.errors import HeadgateError
from headgate.model.identity import JobKey
from headgate.model.measures import JobStatus
from headgate.model.samples import JobSample
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import ClusterOptions
from headgate.ports import JobContext, MetricCollector
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import chain
from headgate.testing.faults import Fault

NAMES = ("north", "south", "west")
BROKEN = NAMES[-1]
_JOBS = 4
_TICK = timedelta(seconds=10)
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)

Seen = Mapping[JobKey, JobSample | str]
"""A sample, or why there is none."""


@dataclass(slots=True, kw_only=True)
class SmallFleet:
    """
    The clusters, with a clock of their own, and two collectors of the same jobs.

    Attributes:
        servers: by the name of the cluster.
        here: the collector of the service.
        fleet: the one whose crew collects elsewhere.
        at: the latest tick.
    """

    servers: Mapping[str, FakeFlink]
    here: FlinkMetricCollector
    fleet: FleetMetricCollector
    at: datetime = _BEGIN

    @property
    def jobs(self) -> tuple[JobContext, ...]:
        """Every job, as its cluster lists it."""
        return tuple(
            JobContext(key=JobKey(name, job.name), job_id=job_id, status=JobStatus.RUNNING, options=AutoscalerOptions())
            for name, server in self.servers.items()
            for job_id, job in server.jobs.items()
        )

    async def tick(self) -> tuple[Seen, Seen]:
        """Let ten seconds pass, and give what the service and what the crew see then."""
        self.at += _TICK
        for server in self.servers.values():
            server.advance(_TICK.total_seconds())
        return await self.seen_by(self.here), await self.seen_by(self.fleet)

    async def seen_by(self, collector: MetricCollector, jobs: Sequence[JobContext] = ()) -> Seen:
        """Take a sample of every job, or of some, at the latest tick."""
        asked = jobs or self.jobs
        seen = await asyncio.gather(*(_sample(collector, ctx, self.at) for ctx in asked))
        return {ctx.key: each for ctx, each in zip(asked, seen, strict=True)}

    def begin_anew(self, name: str) -> None:
        """Let the counters of a cluster's jobs fall back to nothing, as after a failure that nobody saw."""
        server = self.servers[name]
        for job in server.jobs.values():
            job.start(server.now_ms)


@asynccontextmanager
async def small_fleet(crew: Crew) -> AsyncIterator[SmallFleet]:
    """Serve the clusters, and end everything afterwards."""
    async with AsyncExitStack() as stack:
        servers = {name: await stack.enter_async_context(_server(place)) for place, name in enumerate(NAMES)}
        servers[BROKEN].plant(Fault())
        clusters = {name: ClusterOptions(name=name, url=server.url) for name, server in servers.items()}
        clients = {name: await stack.enter_async_context(FlinkClient(one)) for name, one in clusters.items()}
        fleet = FleetMetricCollector(
            clusters=clusters, here=FlinkMetricCollector(clients), crew=crew, time_limit=timedelta(seconds=30)
        )
        stack.callback(fleet.close)
        yield SmallFleet(servers=servers, here=FlinkMetricCollector(clients), fleet=fleet)


def _server(place: int) -> FakeFlink:
    jobs = (
        chain(job_id=f"{place:x}{number:031x}", name=f"job-{number}", vertices=3, rate=100.0 * (number + 1))
        for number in range(_JOBS)
    )
    return FakeFlink(jobs)


async def _sample(collector: MetricCollector, ctx: JobContext, at: datetime) -> JobSample | str:
    try:
        return await collector.update_metrics(ctx, at)
    except HeadgateError as error:
        return f"{type(error).__name__}: {error}"
