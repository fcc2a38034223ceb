"""The simulated engine behind the ports: what a collector sees of it, and what it makes of requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from headgate.engines.simulated.cluster import SimulatedCluster
from headgate.engines.simulated.collector import SimulatedMetricCollector
from headgate.engines.simulated.failures import Failure, FailureKind
from headgate.engines.simulated.jobs import SimulatedJobListFetcher
from headgate.engines.simulated.realizer import SimulatedScalingRealizer
from headgate.engines.simulated.settings import ClusterSettings, Conditions, TaskManagerSettings
from headgate.errors import NotFoundError, OvertakenError, RefusedError, UnreachableError
from headgate.model.decision import ConfigChanges
from headgate.model.identity import VertexId
from headgate.model.measures import JobMeasure, Measure
from headgate.model.samples import JobSample
from headgate.model.state import Intent
from headgate.options.autoscaler import AutoscalerOptions, BusyTimeAggregator
from headgate.ports import JobContext
from headgate.simulate import job, steps, vertex

SOURCE, COUNT = VertexId("source"), VertexId("count")
PIPE = job(
    "pipe",
    vertex("source", 1000, load=steps({0: 300, 200: 100}), parallelism=2, partitions=4),
    vertex("count", 100, parallelism=2, hot_key_share=0.2, max_parallelism=8),
)


class Stage:
    """One cluster with the ports in front of it."""

    def __init__(self, *failures: Failure, noise: float = 0.0, **options: Any) -> None:
        """Let nothing happen yet."""
        settings = ClusterSettings(
            checkpoint_interval=timedelta(), task_manager=TaskManagerSettings(slots=4, cpus=2.0, heap_usage=0.6)
        )
        conditions = Conditions(measurement_noise=noise, settings=settings)
        self.cluster = SimulatedCluster([PIPE], conditions=conditions, failures=failures)
        self.options = AutoscalerOptions(**options)
        self.fetcher = SimulatedJobListFetcher(self.cluster, lambda _: self.options)
        self.collector = SimulatedMetricCollector(self.cluster)
        self.realizer = SimulatedScalingRealizer(self.cluster)

    async def context(self) -> JobContext:
        """List the only job."""
        return (await self.fetcher.fetch()).jobs[0]

    async def rollback(self, before: int, to: int = 1) -> JobContext:
        """List the job with the intent to take a rescale of it back."""
        ctx, now = await self.context(), self.cluster.now
        intent = Intent(
            decision_id="d1",
            decided_at=now,
            job_id=ctx.job_id,
            fingerprint="f",
            before={COUNT: before},
            after={COUNT: to},
            deadline=now,
            takes_back="d0",
        )
        return replace(ctx, intent=intent)

    async def sample(self, at: float) -> JobSample:
        """Take a sample at a time."""
        self.cluster.advance_to(at)
        return await self.collector.update_metrics(await self.context(), self.cluster.now)

    async def samples(self, *at: float) -> Sequence[JobSample]:
        """Take samples at some times."""
        return [await self.sample(each) for each in at]


def failure(what: FailureKind, at: float, lasts: float) -> Failure:
    """Plan a failure, times in seconds."""
    return Failure(what=what, at=timedelta(seconds=at), duration=timedelta(seconds=lasts))


async def test_a_sample_holds_the_graph_the_counters_and_the_cluster() -> None:
    """Every time adds up to that of all subtasks; only a source has a lag."""
    sample = await Stage().sample(60)
    assert sample.topology.parallelism == {SOURCE: 2, COUNT: 2}
    assert sample.topology.by_id[SOURCE].partitions == 4
    assert (sample.slots_total, sample.slots_free) == (200, 198)
    count = sample.vertices[COUNT].values
    times = (
        Measure.ACCUMULATED_BUSY_TIME,
        Measure.ACCUMULATED_IDLE_TIME,
        Measure.ACCUMULATED_BACKPRESSURED_TIME,
    )
    assert sum(count[measure] for measure in times) == pytest.approx(2 * 60_000)
    assert Measure.LAG not in count
    assert sample.vertices[SOURCE].values[Measure.LAG] > 0


async def test_a_sample_tells_of_the_task_managers() -> None:
    """What they have, and what was measured of them; the rest is unknown."""
    sample = await Stage().sample(60)
    assert (sample.settings.slots_per_task_manager, sample.settings.task_manager_cpus) == (4, 2.0)
    assert sample.settings.task_manager_memory_bytes is None
    assert sample.values == {JobMeasure.HEAP_MAX_USAGE_RATIO: 0.6, JobMeasure.STATE_SIZE: 0.0}


async def test_values_that_the_engine_repeats_are_no_samples() -> None:
    """It takes its metrics every ten seconds: what is asked in between says nothing new."""
    first, between, next_one = await Stage().samples(10, 15, 20)
    assert first.vertices.keys() == next_one.vertices.keys() == {SOURCE, COUNT}
    assert between.vertices == {}
    assert (next_one.vertices[COUNT].measured_at - first.vertices[COUNT].measured_at) == timedelta(seconds=10)


@pytest.mark.parametrize(
    ("aggregator", "load"),
    [(BusyTimeAggregator.MAX, 1.0), (BusyTimeAggregator.MIN, 0.4 / 0.6), (BusyTimeAggregator.AVG, None)],
)
async def test_load_is_that_of_the_hottest_or_the_coldest_subtask(
    aggregator: BusyTimeAggregator, load: float | None
) -> None:
    """The hot key's subtask gets 0.6 of the records and is the limit; the average is left to the counters."""
    _, sample = await Stage(busy_time_aggregator=aggregator).samples(50, 60)
    values = sample.vertices[COUNT].values
    assert values.get(Measure.LOAD) == (None if load is None else pytest.approx(load))
    assert values.get(Measure.MEAN_LOAD) == (None if load is None else pytest.approx(0.5 / 0.6))


async def test_a_source_that_is_behind_shows_what_it_can_do_without_backpressure() -> None:
    """It is blocked nearly all the time; corrected for that, it does its 2000/s. Caught up, it carries that on."""
    *_, behind, _, caught_up = await Stage().samples(160, 170, 180, 790, 800)
    assert behind.vertices[SOURCE].values[Measure.OBSERVED_TPR] == pytest.approx(2000, rel=0.01)
    assert caught_up.vertices[SOURCE].values[Measure.LAG] < 200
    assert caught_up.vertices[SOURCE].values[Measure.OBSERVED_TPR] == pytest.approx(2000, rel=0.01)


async def test_a_source_that_never_lagged_shows_nothing() -> None:
    """What arrives says nothing about what it could do."""
    samples = await Stage(observed_tpr_lag_threshold=timedelta(hours=2)).samples(10, 20, 30)
    assert all(Measure.OBSERVED_TPR not in each.vertices[SOURCE].values for each in samples)


async def test_noise_keeps_counters_growing_and_time_whole() -> None:
    """Busy and idle time trade places; records are counted exactly."""
    stage = Stage(noise=0.3)
    samples = await stage.samples(*range(10, 400, 10))
    busy = [each.vertices[COUNT].values[Measure.ACCUMULATED_BUSY_TIME] for each in samples]
    idle = [each.vertices[COUNT].values[Measure.ACCUMULATED_IDLE_TIME] for each in samples]
    assert busy == sorted(busy)
    assert idle == sorted(idle)
    assert busy[-1] + idle[-1] == pytest.approx(2 * 390_000)
    count = stage.cluster.jobs["pipe"].tasks["count"]
    assert samples[-1].vertices[COUNT].values[Measure.NUM_RECORDS_IN] == count.ledger.read


async def test_after_a_restart_samples_are_of_another_epoch() -> None:
    """And the job runs since the end of the restart."""
    stage = Stage()
    before = await stage.sample(60)
    await stage.realizer.realize_parallelism_overrides(await stage.context(), {COUNT: 5})
    after = await stage.sample(100)
    assert after.topology.parallelism == {SOURCE: 2, COUNT: 5}
    assert after.vertices[COUNT].epoch == before.vertices[COUNT].epoch + 1
    assert after.running_since - before.running_since == timedelta(seconds=71)
    counted = [each.vertices[COUNT].values[Measure.NUM_RECORDS_IN] for each in (before, after)]
    assert counted[1] < counted[0]


async def test_the_same_request_twice_sends_nothing() -> None:
    """Vertices that the job does not have are ignored."""
    stage = Stage()
    ctx = await stage.context()
    assert await stage.realizer.realize_parallelism_overrides(ctx, {COUNT: 3, VertexId("no such"): 9})
    assert not await stage.realizer.realize_parallelism_overrides(ctx, {COUNT: 3})


async def test_more_than_the_key_groups_and_any_configuration_are_refused() -> None:
    """The engine says no, and nothing changes."""
    stage = Stage()
    ctx = await stage.context()
    with pytest.raises(RefusedError, match="count cannot run at 9"):
        await stage.realizer.realize_parallelism_overrides(ctx, {COUNT: 9})
    with pytest.raises(RefusedError, match="no configuration"):
        await stage.realizer.realize_config_overrides(ctx, ConfigChanges(overrides={"a": "b"}))
    assert stage.cluster.jobs["pipe"].required == {"source": 2, "count": 2}


@pytest.mark.parametrize(
    ("what", "error", "asked"),
    [
        (FailureKind.REFUSAL, RefusedError, 2),
        (FailureKind.TIMEOUT, UnreachableError, 2),
        (FailureKind.LOST_ANSWER, UnreachableError, 3),
    ],
)
async def test_requests_are_refused_lost_or_heard_without_an_answer(
    what: FailureKind, error: type[Exception], asked: int
) -> None:
    """Only while the failure lasts."""
    stage = Stage(failure(what, 10, 20))
    stage.cluster.advance_to(15)
    ctx = await stage.context()
    with pytest.raises(error):
        await stage.realizer.realize_parallelism_overrides(ctx, {COUNT: 3})
    assert stage.cluster.jobs["pipe"].required["count"] == asked
    stage.cluster.advance_to(31)
    assert await stage.realizer.realize_parallelism_overrides(ctx, {COUNT: 4})


@pytest.mark.parametrize(("asked", "sick"), [(4, 4), (4, 8)])
async def test_a_rollback_takes_back_what_was_asked_for_or_was_on_the_way(asked: int, sick: int) -> None:
    """The latest rescale may never have arrived; what nobody here can have asked for is somebody else's."""
    stage = Stage()
    stage.cluster.jobs["pipe"].require({"count": asked}, stage.cluster.now_s)
    back = await stage.rollback(sick)
    assert await stage.realizer.realize_parallelism_overrides(back, {COUNT: 1})
    with pytest.raises(OvertakenError, match="somebody else asked for count at 1, not 8"):
        await stage.realizer.realize_parallelism_overrides(await stage.rollback(8, to=2), {COUNT: 2})


async def test_a_job_without_metrics_is_listed_and_a_silent_cluster_is_a_failure() -> None:
    """No sample in the first case, no answer at all in the second."""
    stage = Stage(failure(FailureKind.METRICS, 10, 10), failure(FailureKind.CLUSTER, 30, 10))
    with pytest.raises(UnreachableError):
        await stage.sample(15)
    ctx = await stage.context()
    stage.cluster.advance_to(35)
    listed = await stage.fetcher.fetch()
    assert listed.jobs == ()
    assert list(listed.failures) == ["simulated"]
    with pytest.raises(UnreachableError):
        await stage.collector.query_topology(ctx)


async def test_metrics_of_one_vertex_may_be_missing() -> None:
    """The others are sampled as ever."""
    stage = Stage(Failure(what=FailureKind.METRICS, at=timedelta(), duration=timedelta(seconds=50), vertex="count"))
    assert (await stage.sample(20)).vertices.keys() == {SOURCE}
    assert (await stage.sample(60)).vertices.keys() == {SOURCE, COUNT}


async def test_a_job_that_vanished_is_not_found() -> None:
    """Nor is it listed."""
    stage = Stage(failure(FailureKind.VANISHING, 10, 100))
    ctx = await stage.context()
    stage.cluster.advance_to(15)
    assert (await stage.fetcher.fetch()).jobs == ()
    with pytest.raises(NotFoundError):
        await stage.collector.query_topology(ctx)


async def test_the_engine_tells_its_slots_and_jobs() -> None:
    """Under Flink's names."""
    stage = Stage()
    values = await stage.collector.query_jm_metrics(await stage.context())
    assert values == {"taskSlotsTotal": 200, "taskSlotsAvailable": 198, "numRunningJobs": 1}


async def test_what_is_forgotten_is_seen_anew() -> None:
    """The next sample begins without differences to the last one."""
    stage = Stage()
    await stage.samples(50, 60)
    stage.collector.forget((await stage.context()).key)
    assert Measure.LOAD not in (await stage.sample(70)).vertices[COUNT].values
