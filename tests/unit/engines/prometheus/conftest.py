"""What the tests of the Prometheus engine share: a fake Flink, and a fake Prometheus that scrapes it when told to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from datetime import timedelta

import pytest

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.numbers import instant
from headgate.engines.prometheus.collector import PrometheusMetricCollector
from headgate.engines.prometheus.server import PrometheusServer
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobStatus
from headgate.model.samples import JobSample, VertexSample
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.prometheus import PrometheusOptions
from headgate.options.service import ClusterOptions
from headgate.ports import JobContext
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import FakeJob, FakeVertex
from headgate.testing.fake_prometheus import FakePrometheus, Scraped
from headgate.testing.fake_reporter import pages
from headgate.testing.fake_web import FakeWeb

SOURCE, WORK, SINK = VertexId("s" * 32), VertexId("w" * 32), VertexId("z" * 32)
SCRAPE_S = 10

Page = Iterable[Scraped]


class Scene:
    """A job `source -> work -> sink` and whatever else runs; `work` has two subtasks of 500 records/s each."""

    def __init__(self, flink: FakeFlink, prometheus: FakePrometheus, client: FlinkClient, url: str) -> None:
        """Take no sample yet."""
        self.flink = flink
        self.prometheus = prometheus
        self.job = next(iter(flink.jobs.values()))
        self.options = AutoscalerOptions()
        self._client = client
        self.prometheus_url = url
        self.servers: list[PrometheusServer] = []
        self.collector = self.observing()

    def observing(self, matchers: Mapping[str, str] | None = None) -> PrometheusMetricCollector:
        """Give a collector that has seen nothing yet."""
        options = PrometheusOptions(
            url=self.prometheus_url, matchers=matchers or {}, scrape_interval=timedelta(seconds=SCRAPE_S)
        )
        server = PrometheusServer("lab", options)
        self.servers.append(server)
        return PrometheusMetricCollector({"lab": self._client}, {"lab": server})

    def scrape(self, change: Callable[[Page], Page] = lambda page: page) -> None:
        """Let Prometheus scrape now what a change leaves of the pages."""
        self.prometheus.now_s = self.flink.now_ms / 1000
        self.prometheus.scrape(change(pages(self.flink)))

    def lines(self, name: str = "") -> list[Scraped]:
        """Give the lines of all pages now, or those whose metric ends so."""
        return [each for each in pages(self.flink) if each.labels["__name__"].endswith(name)]

    def wait(self, seconds: float) -> None:
        """Let time pass without a scrape."""
        self.flink.advance(seconds)
        self.prometheus.now_s = self.flink.now_ms / 1000

    def context(self, job: FakeJob | None = None) -> JobContext:
        """Give how a job, by default the first, is asked about."""
        job = job or self.job
        key = JobKey("lab", job.name)
        return JobContext(key=key, job_id=job.job_id, status=JobStatus.RUNNING, options=self.options)

    async def sample(self) -> JobSample:
        """Take a sample now."""
        return await self.collector.update_metrics(self.context(), instant(self.flink.now_ms))

    async def next(self, seconds: float = SCRAPE_S) -> JobSample:
        """Take a sample after the next scrape."""
        self.wait(seconds)
        self.scrape()
        return await self.sample()


def without_subtask(index: str) -> Callable[[Page], Page]:
    """Leave a subtask out, as where its TaskManager cannot be scraped."""
    return lambda page: [each for each in page if each.labels.get("subtask_index") != index]


def without(*names: str) -> Callable[[Page], Page]:
    """Take labels off all series, as a scrape configuration may do."""
    return lambda page: [
        Scraped({label: value for label, value in each.labels.items() if label not in names}, each.value)
        for each in page
    ]


def grown(before: VertexSample, now: VertexSample) -> Mapping[str, float]:
    """Give what the counters of a vertex grew by a second between two samples of one epoch."""
    assert before.epoch == now.epoch
    seconds = (now.measured_at - before.measured_at).total_seconds()
    return {each.column: (now.values[each] - before.values[each]) / seconds for each in before.values}


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    """Give the scene after half a minute, with one scrape."""
    job = FakeJob(
        job_id="a" * 32,
        name="orders",
        rate=600.0,
        vertices=[
            FakeVertex(id=SOURCE, name="Source: source", capacity=10_000.0, partitions=4),
            FakeVertex(id=WORK, name="work", parallelism=2, capacity=500.0, inputs={SOURCE: "HASH"}),
            FakeVertex(id=SINK, name="sink", capacity=10_000.0, inputs={WORK: "FORWARD"}),
        ],
    )
    prometheus = FakePrometheus()
    async with FakeFlink([job]) as flink, FakeWeb() as web:
        web.answering = prometheus.respond
        async with FlinkClient(ClusterOptions(name="lab", url=flink.url)) as client:
            scene = Scene(flink, prometheus, client, web.url)
            scene.wait(30)
            scene.scrape()
            yield scene
            for server in scene.servers:
                await server.close()
