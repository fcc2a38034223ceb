"""A fake Flink and a fake Prometheus that scrapes it, under the hand of the suites."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from tests.conformance.flink_stage import FlinkStage, flink_stage

from headgate.engines.flink.client import FlinkClient
from headgate.engines.prometheus.collector import PrometheusMetricCollector
from headgate.engines.prometheus.server import PrometheusServer
from headgate.options.prometheus import PrometheusOptions
from headgate.options.service import ClusterOptions
from headgate.testing.fake_prometheus import FakePrometheus
from headgate.testing.fake_reporter import pages
from headgate.testing.fake_web import FakeWeb


class PrometheusStage:
    """The jobs of a Flink stage, seen through Prometheus."""

    def __init__(self, flink: FlinkStage, prometheus: FakePrometheus, collector: PrometheusMetricCollector) -> None:
        """Scrape for the first time."""
        self.collector = collector
        self.jobs = flink.jobs
        self._flink = flink
        self._prometheus = prometheus
        self._scrape()

    async def pass_time(self) -> timedelta:
        """Let ten seconds pass until the next scrape."""
        took = await self._flink.pass_time()
        self._scrape()
        return took

    async def end_job(self) -> None:
        """Restart the JobManager, as far as the first job can tell; Prometheus still has its series."""
        await self._flink.end_job()

    async def go_silent(self) -> None:
        """Let every connection to Flink break."""
        await self._flink.go_silent()

    def _scrape(self) -> None:
        self._prometheus.now_s = self._flink.server.now_ms / 1000
        self._prometheus.scrape(pages(self._flink.server))


@asynccontextmanager
async def prometheus_stage() -> AsyncIterator[PrometheusStage]:
    """Serve two jobs, and what was scraped of them."""
    prometheus = FakePrometheus()
    async with flink_stage(jobs=2) as flink, FakeWeb() as web:
        web.answering = prometheus.respond
        server = PrometheusServer("fake", PrometheusOptions(url=web.url, scrape_interval=timedelta(seconds=10)))
        async with FlinkClient(ClusterOptions(name="fake", url=flink.server.url)) as client:
            try:
                yield PrometheusStage(flink, prometheus, PrometheusMetricCollector({"fake": client}, {"fake": server}))
            finally:
                await server.close()
