"""Applications that come, go, and cannot be read: what is listed, and what is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Event

import pytest
from tests.conformance.spark_stage import BATCH, QUERY, FakeWorkers

from headgate.config.jobs import JobSettings
from headgate.engines.spark.names import vertex_id
from headgate.engines.spark.outside.cluster import SparkCluster
from headgate.engines.spark.outside.clusters import SparkClusters
from headgate.engines.spark.outside.collector import SparkMetricCollector
from headgate.engines.spark.outside.jobs import SparkJobListFetcher
from headgate.engines.spark.outside.rest import WorkerSize, read_master
from headgate.engines.spark.outside.watched import WatchedApplication
from headgate.errors import NotFoundError, UnreachableError
from headgate.model.identity import JobKey
from headgate.model.measures import JobStatus, Measure
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.reactive import WorkersOptions
from headgate.options.spark import SparkOptions
from headgate.testing.conformance.metric_collector import TICK
from headgate.testing.fake_spark import FakeSpark, FakeSparkApplication
from headgate.testing.fake_web import WebAnswer

RECORDED = Path(__file__).parents[4] / "fixtures" / "spark"


class Stage:
    """A cluster without applications yet."""

    def __init__(self, spark: FakeSpark) -> None:
        """Look at nothing yet."""
        self.spark = spark
        self.options = SparkOptions(
            name="streams",
            master=spark.url,
            event_log_dir=spark.log_dir,
            applications=("orders*",),
            request_timeout=timedelta(milliseconds=500),
            workers=WorkersOptions(most=4),
        )
        self.cluster = SparkCluster(self.options)
        self.fetcher = SparkJobListFetcher(self.cluster, lambda *_: JobSettings(options=AutoscalerOptions()))
        self.collector = SparkMetricCollector(self.cluster)

    def start(self, name: str) -> FakeSparkApplication:
        """Start one without a query, on one executor."""
        made = self.spark.applications[self.spark.start(name)]
        made.add_executor()
        return made

    async def statuses(self) -> dict[str, JobStatus]:
        """List the applications by name."""
        listed = await self.fetcher.fetch()
        assert not listed.failures
        return {job.key.name: job.status for job in listed.jobs}


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    """Serve a master."""
    async with FakeSpark(tmp_path) as spark:
        made = Stage(spark)
        yield made
        await made.cluster.close()


def test_what_a_master_says_is_read() -> None:
    """A worker that is being decommissioned is none any more."""
    state = read_master(json.loads((RECORDED / "master.json").read_text()))
    (application,) = state.applications
    assert (application.id, application.name) == ("app-20261122150318-0000", "orders")
    assert application.status is JobStatus.RUNNING
    assert state.workers == (WorkerSize(cores=1, mb=700),) * 2
    assert len(read_master(json.loads((RECORDED / "master-decommissioned.json").read_text())).workers) == 1


async def test_an_application_is_listed_by_name_and_runs_with_its_first_query(stage: Stage) -> None:
    """Others are nobody's business; one without a query may yet begin one."""
    orders = stage.start("orders")
    stage.start("something else")
    assert await stage.statuses() == {"orders": JobStatus.STARTING}
    orders.start_query(QUERY)
    assert await stage.statuses() == {"orders": JobStatus.RUNNING}


async def test_one_whose_log_is_missing_is_told_of(stage: Stage) -> None:
    """It is listed, so that somebody hears what it lacks when it is looked at."""
    stage.start("orders").log.unlink()
    (job,) = (await stage.fetcher.fetch()).jobs
    assert job.status is JobStatus.RUNNING
    with pytest.raises(UnreachableError, match=r"spark\.eventLog\.enabled=true"):
        await stage.collector.update_metrics(job, TICK)


async def test_one_that_says_that_it_ended_is_gone_before_the_master_knows(stage: Stage) -> None:
    """Nobody acts on the dead."""
    orders = stage.start("orders")
    orders.start_query(QUERY)
    (job,) = (await stage.fetcher.fetch()).jobs
    orders.end()
    with pytest.raises(NotFoundError):
        await stage.collector.update_metrics(job, TICK)
    assert await stage.statuses() == {"orders": JobStatus.FINISHED}


@pytest.mark.parametrize(
    "answer",
    [
        WebAnswer(text='{"activeapps": [], "workers": [], "status": "RECOVERING"}'),
        WebAnswer(text='{"activeapps": [], "workers": [], "status": "STANDBY"}'),
        WebAnswer(status=404),
        WebAnswer(status=500),
        WebAnswer(text="<html>"),
        WebAnswer(text='{"workers": []}'),
        WebAnswer(after_s=5.0),
    ],
    ids=["recovering", "standby", "404", "500", "no JSON", "half an answer", "a hang"],
)
async def test_a_master_without_a_usable_answer_fails_and_loses_nothing(stage: Stage, answer: WebAnswer) -> None:
    """It is a failure of its cluster; what its applications did meanwhile is read later."""
    orders = stage.start("orders")
    orders.start_query(QUERY)
    (job,) = (await stage.fetcher.fetch()).jobs
    before, stage.spark.web.answering = stage.spark.web.answering, lambda _: answer
    orders.now = TICK
    orders.run_batch(QUERY, BATCH)
    assert list((await stage.fetcher.fetch()).failures) == ["streams"]
    stage.spark.web.answering = before
    sample = await stage.collector.update_metrics(job, TICK + BATCH.duration)
    assert sample.vertices


async def test_a_log_that_begins_anew_begins_everything_anew(stage: Stage) -> None:
    """As if nothing had been said before."""
    orders = stage.start("orders")
    orders.start_query("old")
    (job,) = (await stage.fetcher.fetch()).jobs
    orders.log.write_text("")
    orders.__post_init__()
    orders.add_executor()
    orders.start_query("another")
    topology = await stage.collector.query_topology(job)
    assert [vertex.name for vertex in topology.vertices] == ["another"]


async def test_nobody_wants_more_cores_than_all_workers_may_have(stage: Stage) -> None:
    """Four workers of two cores are eight; without a provider nothing bounds them."""
    stage.spark.workers = [2]
    stage.start("orders").start_query(QUERY)
    (job,) = (await stage.fetcher.fetch()).jobs
    unbounded = await stage.collector.query_topology(job)
    stage.cluster.provider = FakeWorkers()
    bounded = await stage.collector.query_topology(job)
    assert {vertex.max_parallelism for vertex in bounded.vertices} == {8}
    assert unbounded.vertices == tuple(replace(each, max_parallelism=32768) for each in bounded.vertices)


@pytest.mark.parametrize(("mb", "most"), [(1024, 8), (1023, 4)])
async def test_the_bound_counts_executors_as_the_lever_does(stage: Stage, mb: int, most: int) -> None:
    """Workers of two cores have two executors of one core, if their memory is enough for both."""
    stage.spark.workers, stage.spark.worker_mb = [2], mb
    stage.start("orders").start_query(QUERY)
    (job,) = (await stage.fetcher.fetch()).jobs
    stage.cluster.provider = FakeWorkers()
    topology = await stage.collector.query_topology(job)
    assert {vertex.max_parallelism for vertex in topology.vertices} == {most}


async def test_one_applications_fault_is_not_its_neighbours(stage: Stage) -> None:
    """Whatever stands in its log."""
    stage.start("orders").log.unlink()
    broken = stage.start("orders too")
    broken.write("SparkListenerExecutorAdded", {"Timestamp": 10**30, "Executor ID": "1", "Executor Info": {}})
    broken.write("SparkListenerApplicationStart", {"Timestamp": 10**30})
    stage.start("orders three").start_query(QUERY)
    assert await stage.statuses() == {
        "orders": JobStatus.RUNNING,
        "orders too": JobStatus.STARTING,
        "orders three": JobStatus.RUNNING,
    }


async def test_who_loses_patience_leaves_the_reading_to_others(tmp_path: Path) -> None:
    """Every batch counts once, although the first who waited was cancelled."""
    log = FakeSparkApplication(id="app", name="orders", log=tmp_path / "app.inprogress")
    log.add_executor()
    log.start_query(QUERY)
    started, goes_on = Event(), Event()

    def hold() -> None:
        started.set()
        goes_on.wait(30)

    with ThreadPoolExecutor(1) as readers:
        watched = WatchedApplication("app", tmp_path, readers)
        readers.submit(hold)
        first = asyncio.create_task(watched.follow())
        await asyncio.to_thread(started.wait, 30)
        await asyncio.sleep(0)
        first.cancel()
        second, third = asyncio.create_task(watched.follow()), asyncio.create_task(watched.follow())
        await asyncio.sleep(0)
        log.run_batch(QUERY, BATCH)
        goes_on.set()
        await asyncio.gather(second, third)
        with pytest.raises(asyncio.CancelledError):
            await first
    sample = watched.sample(JobKey("streams", "orders"), log.now)
    assert sample.vertices[vertex_id(QUERY, 0)].values[Measure.NUM_RECORDS_IN] == BATCH.rows


def test_other_clusters_are_not_among_them(tmp_path: Path) -> None:
    """Their jobs are somebody else's."""
    options = SparkOptions(name="streams", master="http://127.0.0.1:1", event_log_dir=tmp_path)
    clusters = SparkClusters([SparkCluster(options)])
    assert clusters.owns("streams")
    assert not clusters.owns("flink")
    assert clusters.known("flink") is None
    with pytest.raises(NotFoundError):
        clusters.find("flink")
