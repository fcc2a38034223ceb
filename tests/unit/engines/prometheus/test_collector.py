"""What the samples hold that are taken from scraped metrics, and what is asked for them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.unit.engines.prometheus.conftest import SINK, SOURCE, WORK, Scene, grown

from headgate.engines.flink.numbers import instant
from headgate.errors import UnreachableError
from headgate.model.identity import JobKey
from headgate.model.measures import JobMeasure, Measure
from headgate.options.autoscaler import BusyTimeAggregator
from headgate.options.deviations import Deviation
from headgate.testing.fake_job import chain
from headgate.testing.fake_prometheus import Scraped
from headgate.testing.fake_web import WebAnswer
from headgate.testing.faults import Fault, FaultKind


async def test_rates_are_those_of_the_job(scene: Scene) -> None:
    """Records and times of all subtasks together, over the time between two scrapes."""
    before = await scene.sample()
    now = await scene.next()
    assert grown(before.vertices[WORK], now.vertices[WORK]) == pytest.approx(
        {"records_in": 600, "records_out": 600, "busy_ms": 1200, "idle_ms": 800, "backpressured_ms": 0}
    )
    assert now.vertices[WORK].values[Measure.LOAD] == pytest.approx(0.6)


async def test_a_sample_is_dated_by_its_scrape(scene: Scene) -> None:
    """Not by the tick: it may come many seconds after."""
    scraped_at = instant(scene.flink.now_ms)
    scene.wait(7)
    sample = await scene.sample()
    assert {each.measured_at for each in sample.vertices.values()} == {scraped_at}
    assert sample.at == scraped_at + timedelta(seconds=7)


async def test_between_two_scrapes_there_is_nothing_new(scene: Scene) -> None:
    """The job goes on, but nobody has seen it."""
    await scene.sample()
    scene.wait(9)
    assert (await scene.sample()).vertices == {}


async def test_a_source_tells_its_lag_and_reads_what_its_operator_counts(scene: Scene) -> None:
    """Its task counts nothing that it reads; what waits is the sum over its subtasks."""
    scene.job[SOURCE].parallelism = 3
    scene.job.rate = 1300
    scene.job.pending = 90
    first = await scene.next()
    assert first.vertices[SOURCE].values[Measure.LAG] > 90
    second = await scene.next()
    assert grown(first.vertices[SOURCE], second.vertices[SOURCE])["records_in"] == pytest.approx(1000)
    assert first.topology.by_id[SOURCE].partitions == 4


async def test_a_source_without_such_a_metric_has_no_lag(scene: Scene) -> None:
    """Unknown is not zero."""
    scene.job[SOURCE].has_lag = False
    scene.wait(40)
    scene.scrape()
    assert Measure.LAG not in (await scene.sample()).vertices[SOURCE].values


async def test_all_jobs_share_the_queries_of_a_tick(scene: Scene) -> None:
    """However many jobs: each metric is asked for once, and each job gets its own."""
    further = [chain(job_id=f"{number:032x}", name=f"job-{number}", vertices=3) for number in range(1, 20)]
    for job in further:
        scene.flink.add(job)
    scene.wait(10)
    scene.scrape()
    at = instant(scene.flink.now_ms)
    asked = [scene.context(job) for job in (scene.job, *further)]
    samples = await asyncio.gather(*(scene.collector.update_metrics(ctx, at) for ctx in asked))
    assert [sample.vertices.keys() for sample in samples] == [sample.topology.by_id.keys() for sample in samples]
    queries = scene.prometheus.queries
    assert len(queries) == len(set(queries)) == 16
    assert [query for query in queries if "numRecordsIn{}" in query] == [
        "flink_taskmanager_job_task_numRecordsIn{}[30000ms]"
    ]


async def test_graph_and_start_come_from_flink(scene: Scene) -> None:
    """Prometheus knows no edges; settings too, but for how often there is something new."""
    sample = await scene.sample()
    assert [(edge.source, edge.target) for edge in sample.topology.edges] == [(SOURCE, WORK), (WORK, SINK)]
    assert sample.running_since == instant(scene.job.running_since_ms)
    assert sample.settings.adaptive
    assert sample.settings.metric_refresh_s == 10
    assert scene.flink.asked("/subtasks/metrics") == 0


async def test_workers_and_slots_are_scraped_too(scene: Scene) -> None:
    """The largest of any TaskManager, and the JobManager's own count."""
    scene.flink.workers.append({**scene.flink.workers[0], "Status.JVM.Memory.Heap.Used": 160 * 2**20})
    scene.scrape()
    sample = await scene.sample()
    assert (sample.slots_total, sample.slots_free) == (64, 63)
    assert sample.values[JobMeasure.HEAP_MAX_USAGE_RATIO] == 0.5
    assert sample.values[JobMeasure.GC_PRESSURE] == 0.005
    used = (await scene.collector.query_tm_metrics(scene.context()))["Status.JVM.Memory.Heap.Used"]
    assert (used.least, used.mean) == (80 * 2**20, 120 * 2**20)
    assert (await scene.collector.query_jm_metrics(scene.context()))["taskSlotsTotal"] == 64


async def test_two_clusters_in_one_prometheus_are_told_apart(scene: Scene) -> None:
    """By labels that the scrape configuration adds; even where both run a job of the same id."""

    def labelled(cluster: str, factor: float) -> list[Scraped]:
        return [Scraped({**each.labels, "cluster": cluster}, each.value * factor) for each in scene.lines()]

    scene.collector = scene.observing({"cluster": 'eu "1"'})
    scene.wait(40)
    scene.scrape(lambda _: [*labelled('eu "1"', 1), *labelled("us", 3)])
    sample = await scene.sample()
    assert sample.slots_total == 64
    assert sample.values[JobMeasure.HEAP_MEMORY_USED] == 80 * 2**20
    assert sample.vertices[SINK].values[Measure.NUM_RECORDS_IN] == pytest.approx(scene.job[SINK].records_in)


async def test_a_job_that_nobody_scrapes_is_a_fault(scene: Scene) -> None:
    """Once it has run for long enough: the operator has to know which end is wrong."""
    scene.collector = scene.observing({"cluster": "elsewhere"})
    scene.wait(20)
    with pytest.raises(UnreachableError, match=r"cluster lab has no metrics of job lab/orders .*do `matchers` fit"):
        await scene.sample()


async def test_a_job_that_has_just_begun_may_not_have_been_scraped_yet(scene: Scene) -> None:
    """It has its graph already."""
    young = chain(job_id="b" * 32, name="young", vertices=3)
    scene.flink.add(young)
    scene.wait(5)
    sample = await scene.collector.update_metrics(scene.context(young), instant(scene.flink.now_ms))
    assert (len(sample.topology.vertices), sample.vertices) == (3, {})


async def test_a_cluster_that_is_not_scraped_is_told_so(scene: Scene) -> None:
    """A job may choose this collector where the operator has set up none."""
    ctx = replace(scene.context(), key=JobKey("other", "orders"))
    with pytest.raises(UnreachableError, match=r"cluster other is not scraped. Hint: set its `prometheus.url`"):
        await scene.collector.update_metrics(ctx, instant(scene.flink.now_ms))


async def test_prometheus_without_an_answer_fails_every_job_by_itself(scene: Scene) -> None:
    """Each with its own error, at one cost."""
    other = chain(job_id="b" * 32, name="other", vertices=3)
    scene.flink.add(other)
    scene.prometheus.instead = WebAnswer(status=503, text='{"status": "error", "error": "overloaded"}')
    calls = [scene.collector.update_metrics(scene.context(job), instant(0)) for job in (scene.job, other)]
    first, second = await asyncio.gather(*calls, return_exceptions=True)
    assert isinstance(first, UnreachableError)
    assert isinstance(second, UnreachableError)
    assert first is not second
    assert "overloaded" in str(first)


async def test_flink_without_an_answer_is_a_fault_too(scene: Scene) -> None:
    """The graph is not guessed."""
    scene.flink.plant(Fault(kind=FaultKind.RESET))
    with pytest.raises(UnreachableError):
        await scene.sample()


async def test_the_coldest_subtask_counts_for_who_asks_for_it(scene: Scene) -> None:
    """Each subtask's own counters are there anyway."""
    scene.job[WORK].skew = (0.5, 1.5)
    scene.options = replace(scene.options, busy_time_aggregator=BusyTimeAggregator.MIN)
    await scene.next()
    sample = await scene.next()
    assert sample.vertices[WORK].values[Measure.LOAD] == pytest.approx(0.3)
    assert sample.vertices[WORK].values[Measure.MEAN_LOAD] == pytest.approx(0.6)


async def test_a_job_may_go_by_the_gauges_of_the_engine(scene: Scene) -> None:
    """As the reference autoscaler does; they are asked for from then on only."""
    scene.options = replace(scene.options, deviations_off=(Deviation.COUNTERS_FIRST,))
    tasks = [each.labels for each in scene.lines("numRecordsIn") if each.labels["task_id"] == WORK]
    for labels, busy in zip(tasks, (400.0, 500.0), strict=True):
        gauges = {"busyTimeMsPerSecond": busy, "numRecordsInPerSecond": 300.0}
        scene.prometheus.scrape(
            Scraped({**labels, "__name__": f"flink_taskmanager_job_task_{name}"}, value)
            for name, value in gauges.items()
        )
    values = (await scene.sample()).vertices[WORK].values
    assert (values[Measure.LOAD], values[Measure.NUM_RECORDS_IN_PER_SECOND]) == (0.5, 600)
