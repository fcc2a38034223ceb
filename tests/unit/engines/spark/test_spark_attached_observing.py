"""What is attached to an application sees of it, through a driver that is not there."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.engines.spark.application import QuerySettings
from headgate.engines.spark.attached.batches import Batches
from headgate.engines.spark.attached.collector import AttachedMetricCollector
from headgate.engines.spark.attached.failures import AttachedFailureHistory
from headgate.engines.spark.attached.feed import ProgressFeed
from headgate.engines.spark.attached.gateway import BatchWork
from headgate.engines.spark.attached.jobs import AttachedJobListFetcher
from headgate.errors import NotFoundError, UnreachableError
from headgate.model.identity import JobKey
from headgate.model.lag import LagOrigin
from headgate.model.measures import JobStatus, Measure
from headgate.model.micro_batch import MicroBatch
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import JobContext
from headgate.testing.fake_gateway import DrivenBatch, FakeGateway

OPTIONS = AutoscalerOptions()


def context(job_id: str = "app-1") -> JobContext:
    """Give the job as its list has it."""
    return JobContext(key=JobKey("spark", "orders"), job_id=job_id, status=JobStatus.RUNNING, options=OPTIONS)


def taken(gateway: FakeGateway, batches: Batches | None = None) -> list[MicroBatch]:
    """Take what was reported."""
    return [*(batches or Batches(gateway, gateway.feed)).take(gateway.queries(), cores=2)]


def test_a_report_becomes_a_batch_with_its_stages_and_settings() -> None:
    """What the progress does not tell, the driver does."""
    gateway = FakeGateway()
    gateway.start_query("count", QuerySettings(interval=timedelta(seconds=5), row_limit=1000, takes_all=False))
    gateway.run_batch("count", DrivenBatch(rows=120, tasks=(8, 4), lag=30, state_bytes=9))
    (batch,) = taken(gateway)
    assert (batch.query, batch.rows, batch.cores, batch.lag, batch.state_bytes) == ("count", 120, 2, 30, 9)
    assert [stage.tasks for stage in batch.stages] == [8, 4]
    assert (batch.interval, batch.limit) == (timedelta(seconds=5), 1000)


def test_a_batch_waits_for_its_stages_but_not_for_ever() -> None:
    """The driver's books are late; a batch that never gets there counts without them."""
    gateway = FakeGateway()
    gateway.start_query("count")
    batches = Batches(gateway, gateway.feed)
    gateway.writes_late = True
    gateway.run_batch("count")
    assert taken(gateway, batches) == []
    assert taken(gateway, batches) == []
    (batch,) = taken(gateway, batches)
    assert (batch.rows, batch.stages) == (100, ())


def test_a_batch_whose_stages_come_late_gets_them() -> None:
    """Batches keep their order."""
    gateway = FakeGateway()
    gateway.start_query("count")
    batches = Batches(gateway, gateway.feed)
    gateway.writes_late = True
    gateway.run_batch("count")
    assert taken(gateway, batches) == []
    gateway.writes_late = False
    gateway.run_batch("count")
    assert [(batch.batch_id, len(batch.stages)) for batch in taken(gateway, batches)] == [(0, 1), (1, 1)]


def test_forgotten_stages_do_not_keep_a_batch_from_counting() -> None:
    """The driver keeps only the latest jobs."""
    gateway = FakeGateway()
    gateway.start_query("count")
    gateway.run_batch("count")
    gateway.forgets = True
    (batch,) = taken(gateway)
    assert (batch.rows, batch.stages) == (100, ())


def test_an_answer_that_fails_costs_no_batch() -> None:
    """It comes the next time, and in the order of the batches."""
    gateway = FakeGateway()
    gateway.start_query("count")
    batches = Batches(gateway, gateway.feed)
    for _ in range(3):
        gateway.run_batch("count")
    active = gateway.queries()
    gateway.go_silent()
    assert list(batches.take(active, cores=2)) == []
    gateway.recover()
    assert [(batch.batch_id, len(batch.stages)) for batch in taken(gateway, batches)] == [(0, 1), (1, 1), (2, 1)]


def test_a_query_whose_stages_cannot_be_had_holds_no_other_up() -> None:
    """Nor itself for ever: its batches count without them, and of many that wait only the latest are kept."""
    gateway = FakeGateway()
    for name in ("clean", "count"):
        gateway.start_query(name)
    usual = gateway.work
    faulty = gateway.active["clean"].run_id

    def work(run_id: str, batch_id: int) -> BatchWork:
        if run_id == faulty:
            message = "the driver's JVM failed"
            raise UnreachableError(message)
        return usual(run_id, batch_id)

    gateway.work = work  # type: ignore[method-assign]
    batches = Batches(gateway, gateway.feed)
    gateway.run_steadily("clean", 30)
    gateway.run_batch("count")
    assert [batch.query for batch in taken(gateway, batches)] == ["count"]
    assert taken(gateway, batches) == []
    (first,) = taken(gateway, batches)
    assert (first.query, first.batch_id, first.stages) == ("clean", 10, ())


def test_of_many_fast_batches_none_is_lost() -> None:
    """However many end between two looks: only those that go on waiting are bounded."""
    gateway = FakeGateway()
    gateway.start_query("count")
    gateway.run_steadily("count", 90)
    assert [batch.batch_id for batch in taken(gateway)] == [*range(90)]


def test_queries_of_other_sessions_count_although_no_listener_hears_them() -> None:
    """They run on the same executors: they are asked themselves."""
    gateway = FakeGateway()
    gateway.start_query("count")
    gateway.run_batch("count")
    gateway.feed.take()
    queries = [replace(query, foreign=True) for query in gateway.queries()]
    assert [batch.query for batch in Batches(gateway, gateway.feed).take(queries, cores=2)] == ["count"]


def test_without_a_listener_queries_are_asked() -> None:
    """Each batch is told of once."""
    gateway = FakeGateway()
    gateway.feed.is_fed = False
    gateway.start_query("count")
    batches = Batches(gateway, gateway.feed)
    gateway.run_batch("count")
    gateway.run_batch("count")
    assert [batch.batch_id for batch in taken(gateway, batches)] == [0, 1]
    assert taken(gateway, batches) == []
    gateway.run_batch("count")
    assert [batch.batch_id for batch in taken(gateway, batches)] == [2]


@pytest.mark.parametrize("report", ["no JSON", "[]", "{}", '{"runId": "run-1"}'])
def test_what_cannot_be_read_is_left_out(report: str) -> None:
    """And does not keep the next report from being read."""
    gateway = FakeGateway()
    gateway.start_query("count")
    gateway.feed.put(report)
    gateway.run_batch("count")
    assert len(taken(gateway)) == 1


def test_reports_of_waiting_queries_are_no_batches() -> None:
    """Spark tells now and then that nothing came."""
    gateway = FakeGateway()
    gateway.start_query("count")
    gateway.run_batch("count")
    (report,) = gateway.feed.take()
    idle = {**json.loads(report), "durationMs": {"triggerExecution": 3, "latestOffset": 2}}
    gateway.feed.put(json.dumps(idle))
    assert taken(gateway) == []


def test_a_full_feed_loses_the_oldest() -> None:
    """It never grows without bounds, and never blocks."""
    feed = ProgressFeed(most=2)
    for number in range(5):
        feed.put(str(number))
    assert feed.take() == ["3", "4"]
    assert feed.take() == []


async def test_a_sample_has_all_queries_on_the_same_cores() -> None:
    """They share the executors."""
    gateway = FakeGateway(executors=3)
    for name in ("clean", "count"):
        gateway.start_query(name)
        gateway.run_steadily(name, 3)
    sample = await AttachedMetricCollector(gateway, gateway.feed).update_metrics(context(), gateway.now)
    assert sample.topology.parallelism == {"clean.0": 3, "count.0": 3}
    assert {vertex: one.values[Measure.NUM_RECORDS_IN] for vertex, one in sample.vertices.items()} == {
        "clean.0": 300,
        "count.0": 300,
    }


async def test_attached_to_one_query_the_others_do_not_count() -> None:
    """Neither in samples nor in the status of the job."""
    gateway = FakeGateway()
    for name in ("clean", "count"):
        gateway.start_query(name)
        gateway.run_batch(name)
    sample = await AttachedMetricCollector(gateway, gateway.feed, only="count").update_metrics(context(), gateway.now)
    assert list(sample.vertices) == ["count.0"]
    jobs = AttachedJobListFetcher(gateway, gateway.feed, OPTIONS, only="count")
    assert [job.status for job in (await jobs.fetch()).jobs] == [JobStatus.RUNNING]
    gateway.active.pop("count")
    assert [job.status for job in (await jobs.fetch()).jobs] == [JobStatus.STARTING]


async def test_another_application_is_not_this_job() -> None:
    """A driver that was started anew has a history of its own to begin."""
    gateway = FakeGateway()
    with pytest.raises(NotFoundError, match="app-0"):
        await AttachedMetricCollector(gateway, gateway.feed).update_metrics(context("app-0"), gateway.now)


async def test_unknown_lag_says_so() -> None:
    """A source that tells nothing, and batches that leave no time to tell by."""
    gateway = FakeGateway()
    gateway.start_query("count")
    gateway.run_batch("count", DrivenBatch(lag=None, duration=timedelta(seconds=4.9)))
    sample = await AttachedMetricCollector(gateway, gateway.feed).update_metrics(context(), gateway.now)
    (vertex,) = sample.vertices.values()
    assert Measure.LAG not in vertex.values
    assert vertex.values[Measure.LAG_ORIGIN] == LagOrigin.UNKNOWN


async def test_the_status_is_that_of_the_queries() -> None:
    """From before the first query until the application has ended: a query that is stopped may be started again."""
    gateway = FakeGateway()
    jobs = AttachedJobListFetcher(gateway, gateway.feed, OPTIONS)

    async def status() -> JobStatus:
        (job,) = (await jobs.fetch()).jobs
        return job.status

    assert await status() is JobStatus.STARTING
    gateway.start_query("count")
    assert await status() is JobStatus.RUNNING
    gateway.fail_query("count", "boom")
    assert await status() is JobStatus.RESTARTING
    gateway.start_query("count")
    assert await status() is JobStatus.RUNNING
    gateway.active.clear()
    assert await status() is JobStatus.STARTING
    gateway.stop()
    assert await status() is JobStatus.FINISHED


async def test_a_failed_query_is_told_once_whoever_noticed() -> None:
    """The listener and the look at the queries tell of the same run."""
    gateway = FakeGateway()
    gateway.start_query("count")
    gateway.fail_query("count", "java.lang.IllegalStateException: boom")
    (noticed,) = gateway.failures()
    gateway.feed.put_failure(noticed)
    told = await AttachedFailureHistory(gateway, gateway.feed).query_failures(context(), gateway.now)
    assert [failure.text for failure in told.failures] == ["java.lang.IllegalStateException: boom"]
