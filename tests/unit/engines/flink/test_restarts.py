"""Tasks that start anew, finish or change inside a window: no rate may come out that was never there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from headgate.algorithm.batch import Batch
from headgate.algorithm.demand import source_target
from headgate.algorithm.fleet import FleetJob, assemble
from headgate.algorithm.rates import rate
from headgate.algorithm.reduce import reduce_windows
from headgate.engines.flink.counters import Counters
from headgate.engines.flink.load import have_restarted
from headgate.model.identity import VertexId
from headgate.model.measures import Measure
from headgate.model.samples import JobSample
from headgate.options.autoscaler import BusyTimeAggregator
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import FakeJob, FakeVertex
from headgate.testing.tables import Row, table_of
from headgate.testing.watch import FlinkWatch

SOURCE, WORK, SINK = VertexId("s" * 32), VertexId("w" * 32), VertexId("z" * 32)


def window_of(watch: FlinkWatch, samples: Sequence[JobSample], *, naive: bool = False) -> Batch:
    """Reduce samples to a window; naively all counters are of one epoch."""
    rows = [
        Row(
            job=str(sample.job),
            vertex=vertex,
            at_ms=round(sample.at.timestamp() * 1000),
            measured_ms=round(each.measured_at.timestamp() * 1000),
            epoch=0 if naive else each.epoch,
            values=each.values,
        )
        for sample in samples
        for vertex, each in sample.vertices.items()
    ]
    job = FleetJob(key=watch.context.key, topology=samples[-1].topology, options=watch.context.options)
    return assemble([job], reduce_windows(table_of(rows)))


def rates(batch: Batch, measure: Measure = Measure.NUM_RECORDS_IN) -> list[float]:
    """Give the growth of a counter per second: source, work, sink."""
    return [float(value) for value in rate(batch.windows[measure])]


async def test_a_subtask_that_restarts_gives_no_negative_rate(watch: FlinkWatch, job: FakeJob) -> None:
    """After ten minutes one of two subtasks fails: the sum falls by 180,000 records, naively -3,000 a second."""
    await watch.sample(after_s=600)
    before = [await watch.sample() for _ in range(2)]
    job["work"].restart_subtask(0)
    after = [await watch.sample() for _ in range(3)]

    assert rates(window_of(watch, [*before, *after], naive=True))[1] < 0
    assert rates(window_of(watch, [*before, *after])) == pytest.approx([600] * 3)
    busy = rates(window_of(watch, [*before, *after]), Measure.ACCUMULATED_BUSY_TIME)
    assert busy[1] == pytest.approx(2 * 600)
    assert after[0].vertices[WORK].epoch == before[-1].vertices[WORK].epoch + 1
    assert after[0].vertices[SINK].epoch == before[-1].vertices[SINK].epoch


async def test_a_restart_that_no_sum_shows_begins_an_epoch_too(watch: FlinkWatch, job: FakeJob) -> None:
    """Seconds after the start the other subtasks count more than one loses; with MAX each is seen by itself."""
    watch.aggregator = BusyTimeAggregator.MAX
    job["work"].parallelism = 3
    before = await watch.sample(after_s=11)
    job["work"].restart_subtask(0)
    now = await watch.sample(after_s=9)
    assert now.vertices[WORK].values[Measure.NUM_RECORDS_IN] > before.vertices[WORK].values[Measure.NUM_RECORDS_IN]
    assert now.vertices[WORK].epoch == before.vertices[WORK].epoch + 1
    assert (await watch.sample()).vertices[WORK].epoch == now.vertices[WORK].epoch


def test_subtasks_that_count_on_have_not_restarted() -> None:
    """One that is new has not either: there is nothing to compare it with."""
    young = Counters(busy_ms=100, idle_ms=900, backpressured_ms=0)
    older = replace(young, idle_ms=5_000)
    assert not have_restarted({0: young}, {0: older, 1: young})
    assert have_restarted({0: older, 1: young}, {0: young, 1: older})


async def test_a_finished_source_leaves_no_spike(watch: FlinkWatch, server: FakeFlink, job: FakeJob) -> None:
    """Its counters end; naively zeros follow and the rate is below zero for a whole window, on any vertex behind it."""
    job.vertices.insert(0, FakeVertex(id="t" * 32, name="Source: bounded", capacity=10_000.0))
    job["work"].inputs = {"s" * 32: "HASH", "t" * 32: "HASH"}
    job["Source: bounded"].start(server.now_ms)
    before = [await watch.sample() for _ in range(3)]
    job["Source: bounded"].finished = True
    after = [await watch.sample() for _ in range(3)]

    batch = window_of(watch, [*before, *after])
    work = [vertex.id for vertex in after[-1].topology.vertices].index(WORK)
    assert "t" * 32 not in after[0].vertices
    assert min(rates(batch)) >= 0
    assert source_target(batch).min() >= 0
    assert 600 <= rates(batch)[work] <= 1_200
    assert {sample.vertices[WORK].epoch for sample in after} == {before[0].vertices[WORK].epoch}


async def test_a_job_that_comes_back_with_another_graph_is_discovered_anew(
    watch: FlinkWatch, server: FakeFlink, job: FakeJob
) -> None:
    """A vertex that is new has its names read and its own samples; one that is gone leaves none behind."""
    await watch.sample()
    job.vertices[0] = FakeVertex(id="n" * 32, name="Source: new", capacity=10_000.0, partitions=7)
    job["work"].inputs = {"n" * 32: "HASH"}
    job.start(server.now_ms)
    now = await watch.sample()
    assert set(now.vertices) == {"n" * 32, WORK, SINK}
    assert now.topology.by_id[VertexId("n" * 32)].partitions == 7
    assert now.vertices[VertexId("n" * 32)].values[Measure.LAG] == 0


async def test_what_a_source_did_while_behind_is_remembered_until_the_job_restarts(
    watch: FlinkWatch, job: FakeJob
) -> None:
    """When it has caught up it shows no more than what arrives; another run of the job begins with nothing."""
    job.pending = 60_000
    seen = [await watch.sample() for _ in range(17)]
    observed = [each.vertices[SOURCE].values.get(Measure.OBSERVED_TPR) for each in seen]
    assert Measure.OBSERVED_TPR not in seen[0].vertices[SOURCE].values
    assert seen[-1].vertices[SOURCE].values[Measure.LAG] == 0
    assert observed[1:3] == [pytest.approx(10_000)] * 2
    assert observed[-1] == pytest.approx(10_000)
    job.request({vertex.id: (1, 3) for vertex in job.vertices})
    await watch.sample()
    assert Measure.OBSERVED_TPR not in (await watch.sample()).vertices[SOURCE].values
