"""An application without an event log: what its driver's pages tell, and what they cannot."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from headgate.algorithm.micro_batch.evaluate import evaluate
from headgate.config.jobs import JobSettings
from headgate.engines.spark.names import vertex_id
from headgate.engines.spark.outside.cluster import SparkCluster
from headgate.engines.spark.outside.collector import SparkMetricCollector
from headgate.engines.spark.outside.jobs import SparkJobListFetcher
from headgate.errors import UnreachableError
from headgate.model.lag import LagOrigin
from headgate.model.measures import JobMeasure, JobStatus, Measure
from headgate.model.metrics import NotReady
from headgate.model.reasons import Reason
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.spark import SparkOptions
from headgate.testing.conformance.metric_collector import TICK
from headgate.testing.fake_spark import FakeSpark
from headgate.testing.fake_web import FakeWeb, WebAnswer

EXECUTORS = [
    {"id": "driver", "isActive": True, "totalCores": 0, "totalDuration": 7, "addTime": "2026-01-01T11:00:00.000GMT"},
    {"id": "0", "isActive": True, "totalCores": 2, "totalDuration": 900, "addTime": "2026-01-01T11:00:05.000GMT"},
    {
        "id": "1",
        "isActive": False,
        "totalCores": 2,
        "totalDuration": 100,
        "addTime": "2026-01-01T11:00:05.000GMT",
        "removeTime": "2026-01-01T11:30:00.000GMT",
    },
]


@dataclass
class Stage:
    """An application whose driver shows what a test tells it to."""

    cluster: SparkCluster
    driver: FakeWeb
    application: str
    settings: Mapping[str, str] = field(default_factory=lambda: {"spark.sql.streaming.metricsEnabled": "true"})

    def show(self, **gauges: float) -> None:
        """Show gauges of a query; none where there are none."""
        prefix = f"{self.application}.driver.spark.streaming.clean"
        told = {f"{prefix}.{name.replace('_', '-')}": {"value": value} for name, value in gauges.items()}
        self._answer("/metrics/json", {"gauges": {"jvm.heap": {"value": 1}, **told}})
        api = f"/api/v1/applications/{self.application}"
        self._answer(f"{api}/allexecutors", EXECUTORS)
        self._answer(f"{api}/environment", {"sparkProperties": [list(one) for one in self.settings.items()]})

    def _answer(self, path: str, content: Any) -> None:
        self.driver.answers[path] = WebAnswer(text=json.dumps(content))

    @property
    def fetcher(self) -> SparkJobListFetcher:
        """Lists the application."""
        return SparkJobListFetcher(self.cluster, lambda *_: JobSettings(options=AutoscalerOptions()))


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    """Serve a master and a driver."""
    async with FakeSpark(tmp_path) as spark, FakeWeb(WebAnswer(status=404)) as driver:
        options = SparkOptions(name="streams", master=spark.url, driver=driver.url)
        cluster = SparkCluster(options)
        yield Stage(cluster, driver, spark.start("orders"))
        await cluster.close()


async def test_what_the_gauges_tell_is_sampled(stage: Stage) -> None:
    """The rate and length of batches and the task time; the lag stays unknown, so nothing could shrink."""
    stage.show(processingRate_total=250.0, latency=800, states_usedBytes=4096)
    (job,) = (await stage.fetcher.fetch()).jobs
    assert job.status is JobStatus.RUNNING
    sample = await SparkMetricCollector(stage.cluster).update_metrics(job, TICK)
    assert sample.vertices[vertex_id("clean", 0)].values == {
        Measure.OBSERVED_TPR: 250.0,
        Measure.BATCH_DURATION: 800.0,
        Measure.LAG_ORIGIN: float(LagOrigin.UNKNOWN),
        Measure.ACCUMULATED_BUSY_TIME: 1000.0,
    }
    assert sample.values == {JobMeasure.STATE_SIZE: 4096.0}
    assert [vertex.parallelism for vertex in sample.topology.vertices] == [2]
    assert sample.running_since == datetime(2026, 1, 1, 11, 30, tzinfo=UTC)


async def test_it_is_only_observed_and_its_owner_hears_why(stage: Stage) -> None:
    """No cost is known, so nothing is decided."""
    stage.show(processingRate_total=250.0, latency=800)
    (job,) = (await stage.fetcher.fetch()).jobs
    assert any("needs an event log" in fault for fault in job.faults)
    sample = await SparkMetricCollector(stage.cluster).update_metrics(job, TICK)
    said = evaluate(sample.topology, [sample], AutoscalerOptions())
    assert isinstance(said, NotReady)
    assert said.reason is Reason.COST_UNKNOWN


async def test_one_without_a_query_is_starting(stage: Stage) -> None:
    """It may yet begin one."""
    stage.show()
    (job,) = (await stage.fetcher.fetch()).jobs
    assert job.status is JobStatus.STARTING


async def test_one_that_does_not_measure_its_queries_is_told_what_it_lacks(stage: Stage) -> None:
    """Else it would seem to be starting forever."""
    stage.settings = {}
    stage.show()
    (job,) = (await stage.fetcher.fetch()).jobs
    with pytest.raises(UnreachableError, match=r"metricsEnabled=true"):
        await SparkMetricCollector(stage.cluster).update_metrics(job, TICK)


async def test_pages_that_are_not_there_are_named(stage: Stage) -> None:
    """With the ways out."""
    (job,) = (await stage.fetcher.fetch()).jobs
    with pytest.raises(UnreachableError, match=r"set driver to the address"):
        await SparkMetricCollector(stage.cluster).update_metrics(job, TICK)
