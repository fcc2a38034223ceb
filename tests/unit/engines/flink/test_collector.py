"""What the collector observes of a job, each rule once."""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.engines.flink.client import FlinkClient
from headgate.errors import NotFoundError, UnreachableError
from headgate.model.identity import VertexId
from headgate.model.measures import Measure
from headgate.model.samples import JobSample
from headgate.options.autoscaler import BusyTimeAggregator
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import FakeJob
from headgate.testing.faults import Fault, FaultKind
from headgate.testing.watch import FlinkWatch

SOURCE, WORK, SINK = VertexId("s" * 32), VertexId("w" * 32), VertexId("z" * 32)


def rate(before: JobSample, now: JobSample, vertex: VertexId, measure: Measure = Measure.NUM_RECORDS_IN) -> float:
    """Give the growth of a counter a second of the engine's clock."""
    first, last = before.vertices[vertex], now.vertices[vertex]
    assert first.epoch == last.epoch
    seconds = (last.measured_at - first.measured_at).total_seconds()
    return (last.values[measure] - first.values[measure]) / seconds


async def test_a_sample_holds_graph_counters_settings_and_slots(watch: FlinkWatch, server: FakeFlink) -> None:
    """600 records/s through two subtasks of 500 each: 60 % busy."""
    server.config["metrics.fetcher.update-interval"] = "2000"
    before, now = await watch.sample(), await watch.sample()
    assert [vertex.name for vertex in now.topology.vertices] == ["Source: source", "work", "sink"]
    assert {vertex: round(rate(before, now, vertex)) for vertex in (SOURCE, WORK, SINK)} == dict.fromkeys(
        (SOURCE, WORK, SINK), 600
    )
    assert rate(before, now, WORK, Measure.ACCUMULATED_BUSY_TIME) / 2 == pytest.approx(600)
    assert rate(before, now, SOURCE, Measure.NUM_RECORDS_OUT) == pytest.approx(600)
    assert now.settings.checkpoint_interval_s == 10
    assert now.settings.metric_refresh_s == 2
    assert (now.slots_total, now.slots_free) == (64, 62)
    assert now.at == watch.at


async def test_average_needs_one_call_a_job_and_one_a_source(watch: FlinkWatch, server: FakeFlink) -> None:
    """Names, settings and the size of workers are not asked for each time; what the cluster tells is for all jobs."""
    await watch.sample()
    server.requests.clear()
    await watch.sample()
    of_cluster = {"/overview", "/taskmanagers/metrics"}
    paths = [request.path for request in server.requests if request.path not in of_cluster]
    assert paths == [f"/jobs/{'a' * 32}", f"/jobs/{'a' * 32}/vertices/{SOURCE}/subtasks/metrics"]


async def test_lag_and_partitions_come_from_the_sources_metrics(watch: FlinkWatch, job: FakeJob) -> None:
    """2,000 arrive, 1,000 are done, for ten seconds; the names mention four partitions."""
    job.rate = 2_000
    now = await watch.sample()
    assert now.vertices[SOURCE].values[Measure.LAG] == pytest.approx(10_000)
    assert now.topology.by_id[SOURCE].partitions == 4
    assert now.topology.by_id[WORK].partitions is None


async def test_lag_that_nobody_tells_is_absent(watch: FlinkWatch, job: FakeJob) -> None:
    """A connector without the metric has an unknown lag, which is not none."""
    job["Source: source"].has_lag = False
    now = await watch.sample()
    assert Measure.LAG not in now.vertices[SOURCE].values


async def test_a_lag_that_is_registered_late_is_found(watch: FlinkWatch, job: FakeJob) -> None:
    """Connectors register it with their first fetch; in the first minute the names are read at every tick."""
    job["Source: source"].has_lag = False
    await watch.sample()
    job["Source: source"].has_lag = True
    now = await watch.sample()
    assert now.vertices[SOURCE].values[Measure.LAG] == 0


async def test_a_name_that_is_gone_does_not_empty_the_answer(watch: FlinkWatch, job: FakeJob) -> None:
    """Flink answers nothing at all then; the names are read again within the tick."""
    await watch.sample()
    job["Source: source"].has_lag = False
    now = await watch.sample()
    assert now.vertices[SOURCE].values[Measure.NUM_RECORDS_IN] == pytest.approx(12_000)
    assert Measure.LAG not in now.vertices[SOURCE].values


async def test_partitions_that_are_added_are_seen_within_minutes(watch: FlinkWatch, job: FakeJob) -> None:
    """Names are believed for a minute."""
    await watch.sample()
    job["Source: source"].partitions = 12
    assert (await watch.sample()).topology.by_id[SOURCE].partitions == 4
    assert (await watch.sample(after_s=60)).topology.by_id[SOURCE].partitions == 12


async def test_values_that_the_engine_repeats_are_left_out(watch: FlinkWatch, server: FakeFlink) -> None:
    """It fetches metrics every ten seconds; asked every five, it says everything twice."""
    server.refresh_s = 10
    told = [WORK in (await watch.sample(after_s=5)).vertices for _ in range(8)]
    assert told == [True, False, False, True, False, True, False, True]


async def test_rates_are_exact_although_the_engine_answers_late(watch: FlinkWatch, server: FakeFlink) -> None:
    """Answers are up to 13 s old and ticks uneven: the engine's clock makes the difference exact."""
    server.refresh_s = 10
    await watch.sample()
    await watch.sample(after_s=17)
    before, now = await watch.sample(after_s=13), await watch.sample(after_s=11)
    assert (now.vertices[WORK].measured_at - before.vertices[WORK].measured_at) == timedelta(seconds=13)
    assert rate(before, now, WORK) == pytest.approx(600, rel=0.001)


async def test_a_rescale_begins_an_epoch(watch: FlinkWatch, job: FakeJob) -> None:
    """Counters begin at zero, so nothing is taken across."""
    before = await watch.sample()
    job.request({vertex.id: (1, 3) for vertex in job.vertices})
    now = await watch.sample()
    assert now.running_since > before.running_since
    assert now.topology.parallelism[WORK] == 3
    for vertex in (SOURCE, WORK, SINK):
        assert now.vertices[vertex].epoch > before.vertices[vertex].epoch
    assert rate(now, await watch.sample(), WORK) == pytest.approx(600)


@pytest.mark.parametrize(("aggregator", "load"), [(BusyTimeAggregator.MAX, 0.9), (BusyTimeAggregator.MIN, 0.3)])
async def test_load_is_that_of_the_hottest_or_coldest_subtask(
    aggregator: BusyTimeAggregator, load: float, watch: FlinkWatch, job: FakeJob
) -> None:
    """On average 60 % busy, one subtask half as much again, the other half of it; from counters, a tick apart."""
    watch.aggregator = aggregator
    job["work"].skew = (1.5, 0.5)
    before, now = await watch.sample(), await watch.sample()
    assert Measure.LOAD not in before.vertices[WORK].values
    assert now.vertices[WORK].values[Measure.LOAD] == pytest.approx(load)
    assert now.vertices[WORK].values[Measure.MEAN_LOAD] == pytest.approx(0.6)
    alone = now.vertices[SINK].values
    assert alone[Measure.LOAD] == alone[Measure.MEAN_LOAD] == pytest.approx(0.06)


async def test_load_of_the_average_is_not_asked_for(watch: FlinkWatch, server: FakeFlink) -> None:
    """The sums tell it."""
    await watch.sample()
    now = await watch.sample()
    assert Measure.LOAD not in now.vertices[WORK].values
    assert server.asked(f"{WORK}/metrics") == 0


async def test_many_subtasks_are_asked_in_several_requests(watch: FlinkWatch, server: FakeFlink, job: FakeJob) -> None:
    """No request line is longer than servers take."""
    watch.aggregator = BusyTimeAggregator.MAX
    job["work"].parallelism = 100
    await watch.sample()
    assert server.asked(f"{WORK}/metrics") == 3
    assert max(request.length for request in server.requests) <= 4_000


async def test_the_gauge_is_the_fallback_where_counters_are_unknown(watch: FlinkWatch, job: FakeJob) -> None:
    """A vertex without busy time is dated by the tick; its first answer is only a beginning."""
    job["work"].has_busy_time = False
    before = await watch.sample()
    assert WORK not in before.vertices
    now = await watch.sample()
    assert now.vertices[WORK].measured_at == watch.at
    assert Measure.ACCUMULATED_BUSY_TIME not in now.vertices[WORK].values
    assert now.vertices[WORK].values[Measure.NUM_RECORDS_IN_PER_SECOND] == pytest.approx(600)


async def test_observed_rate_of_a_source_that_is_behind(watch: FlinkWatch, job: FakeJob) -> None:
    """It does 1,000 records/s while it is blocked nine tenths of its time: freed, it could do 10,000."""
    job.rate, job.pending = 600, 200_000
    await watch.sample()
    now = await watch.sample()
    assert now.vertices[SOURCE].values[Measure.OBSERVED_TPR] == pytest.approx(10_000)


async def test_a_source_that_keeps_up_observes_nothing(watch: FlinkWatch) -> None:
    """Its rate is what arrives, not what it can do."""
    await watch.sample()
    assert Measure.OBSERVED_TPR not in (await watch.sample()).vertices[SOURCE].values


async def test_an_idle_source_without_lag_could_do_anything(watch: FlinkWatch, job: FakeJob) -> None:
    """So that it may shrink; one whose lag is unknown might as well be stuck."""
    job.rate = 0
    await watch.sample()
    assert (await watch.sample()).vertices[SOURCE].values[Measure.OBSERVED_TPR] == math.inf
    job["Source: source"].has_lag = False
    assert Measure.OBSERVED_TPR not in (await watch.sample()).vertices[SOURCE].values


async def test_a_finished_vertex_is_marked_and_has_no_values(watch: FlinkWatch, job: FakeJob) -> None:
    """It will not run again."""
    job["Source: source"].finished = True
    now = await watch.sample()
    assert now.topology.by_id[SOURCE].finished
    assert set(now.vertices) == {WORK, SINK}


async def test_settings_are_asked_seldom_and_are_not_vital(watch: FlinkWatch, server: FakeFlink) -> None:
    """Unknown ones are Flink's defaults; after five minutes they are asked again."""
    server.plant(Fault(path="*/config"))
    assert (await watch.sample()).settings.rescale_cooldown_s == 30
    server.heal()
    assert (await watch.sample()).settings.adaptive
    await watch.sample()
    assert server.asked("/jobmanager/config") == 2
    assert server.asked("/checkpoints/config") == 1
    assert (await watch.sample(after_s=300)).settings.checkpoint_interval_s == 10


async def test_an_interval_that_cannot_be_asked_for_stays_as_it_was(watch: FlinkWatch, server: FakeFlink) -> None:
    """How long a rescale may take follows from it: without it, one that is under way would count as late."""
    await watch.sample()
    server.plant(Fault(path="*/checkpoints/config"))
    assert (await watch.sample(after_s=300)).settings.checkpoint_interval_s == 10
    assert server.asked("/checkpoints/config") == 2


async def test_a_job_that_was_submitted_anew_is_another_one(watch: FlinkWatch, server: FakeFlink, job: FakeJob) -> None:
    """Under the same name nothing of the earlier one is believed, not even what is asked for seldom."""
    await watch.sample()
    server.vanish(job.job_id)
    job.job_id, job.checkpoint_interval_ms = "b" * 32, 60_000
    server.add(job)
    server.advance(10)
    ctx = replace(watch.context, job_id=job.job_id)
    now = await watch.collector.update_metrics(ctx, watch.at + timedelta(seconds=10))
    assert now.settings.checkpoint_interval_s == 60


async def test_a_job_without_checkpoints(watch: FlinkWatch, job: FakeJob) -> None:
    """Flink answers 404 to the question for their interval."""
    job.checkpoint_interval_ms = None
    assert (await watch.sample()).settings.checkpoint_interval_s is None


async def test_slots_are_not_vital_and_shared_by_the_jobs_of_a_tick(watch: FlinkWatch, server: FakeFlink) -> None:
    """Asked once a cluster and tick."""
    await watch.sample()
    await watch.collector.update_metrics(watch.context, watch.at)
    assert server.asked("/overview") == 1
    server.plant(Fault(path="/overview"))
    assert (await watch.sample()).slots_total is None


async def test_the_same_graph_is_the_same_object(watch: FlinkWatch) -> None:
    """Sorting it and taking its fingerprint costs, a thousand times a tick."""
    before, now = await watch.sample(), await watch.sample()
    assert now.topology is before.topology


async def test_a_job_that_is_gone(watch: FlinkWatch, server: FakeFlink, job: FakeJob) -> None:
    """It is told apart from a cluster that does not answer."""
    await watch.sample()
    server.vanish(job.job_id)
    with pytest.raises(NotFoundError):
        await watch.sample()
    watch.collector.forget(watch.context.key)
    server.add(job)
    server.plant(Fault())
    with pytest.raises(UnreachableError):
        await watch.sample()


async def test_a_vertex_that_is_just_being_replaced_is_left_out(watch: FlinkWatch, server: FakeFlink) -> None:
    """The job answers, the vertex is not found: the others are a sample all the same."""
    await watch.sample()
    server.plant(Fault(path=f"*/vertices/{SOURCE}/*", status=404))
    assert set((await watch.sample()).vertices) == {WORK, SINK}


async def test_jobmanager_metrics(watch: FlinkWatch) -> None:
    """Under Flink's own names."""
    values = await watch.collector.query_jm_metrics(watch.context)
    assert values == {"taskSlotsTotal": 64, "taskSlotsAvailable": 64 - 2}


@pytest.mark.parametrize("path", ["*/subtasks/metrics", "*/metrics", "*/config", "/overview"])
async def test_no_metric_call_is_waited_for_without_limit(
    path: str, server: FakeFlink, hasty: FlinkClient, job: FakeJob
) -> None:
    """A JobManager that hangs costs the time limit; without one it would hold the job's turn for ever."""
    watch = FlinkWatch(server, hasty, job)
    watch.aggregator = BusyTimeAggregator.MAX
    server.plant(Fault(path=path, kind=FaultKind.HANG))
    async with asyncio.timeout(5):
        with suppress(UnreachableError):
            await watch.sample()
