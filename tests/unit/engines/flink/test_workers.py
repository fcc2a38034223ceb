"""What the TaskManagers tell: job-wide measures, and how large one is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.workers import (
    GC_PER_SECOND,
    HEAP_MAX,
    HEAP_USED,
    TaskManagerSize,
    job_values,
    read_aggregates,
    read_largest,
    read_size,
)
from headgate.model.measures import JobMeasure
from headgate.model.samples import Aggregate
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import FakeJob
from headgate.testing.faults import Fault, FaultKind
from headgate.testing.watch import FlinkWatch

MIB = 2**20
METRICS = "/taskmanagers/metrics"


def test_recorded_workers(recorded: Callable[[str], Any]) -> None:
    """Of three TaskManagers the fullest has used 61 of its 320 MiB."""
    values = job_values(read_largest(recorded("taskmanagers_metrics_agg")))
    assert values[JobMeasure.HEAP_MEMORY_USED] == 63_906_304
    assert values[JobMeasure.HEAP_MAX_USAGE_RATIO] == pytest.approx(0.19, abs=0.001)
    assert values[JobMeasure.GC_PRESSURE] == pytest.approx(0.0001)
    assert JobMeasure.MANAGED_MEMORY_USED not in values


async def test_workers_are_told_in_every_aggregation(watch: FlinkWatch, server: FakeFlink) -> None:
    """Under Flink's names; an engine that does not know garbage collection tells the rest."""
    server.workers[0][HEAP_USED] = 100.0
    server.workers.append(server.workers[0] | {HEAP_USED: 300.0})
    found = await watch.collector.query_tm_metrics(watch.context)
    assert found[HEAP_USED] == Aggregate(least=100.0, most=300.0, mean=200.0, total=400.0)
    assert GC_PER_SECOND in found
    for worker in server.workers:
        del worker[GC_PER_SECOND]
    found = await watch.collector.query_tm_metrics(watch.context)
    assert found[HEAP_USED].total == 400.0
    assert GC_PER_SECOND not in found


def test_an_aggregate_that_is_no_number_is_left_out() -> None:
    """NaN is what Flink says of a metric that has none, and an older one may leave an aggregation out."""
    whole = {"id": HEAP_USED, "min": 1, "max": 3, "avg": 2, "sum": 4}
    partly = [{**whole, "id": "odd", "avg": "NaN"}, {"id": "old", "max": 3}]
    assert read_aggregates([whole, *partly]) == {HEAP_USED: Aggregate(least=1.0, most=3.0, mean=2.0, total=4.0)}


def test_recorded_size(recorded: Callable[[str], Any]) -> None:
    """Two slots and 800 MiB each; the cores are those of the machine and say nothing."""
    assert read_size(recorded("taskmanagers")) == TaskManagerSize(slots=2, memory_bytes=800 * MIB)


def test_no_worker_has_no_size() -> None:
    """Which will be asked again, as a failure is."""
    assert read_size({"taskmanagers": []}) is None


def test_an_unbounded_or_unknown_heap_has_no_ratio() -> None:
    """The JVM says -1 of a heap without a bound; NaN is no number."""
    assert job_values({HEAP_USED: 5, HEAP_MAX: -1}) == {JobMeasure.HEAP_MEMORY_USED: 5}
    assert job_values(read_largest([{"id": GC_PER_SECOND, "max": "NaN"}])) == {}


async def test_a_sample_holds_what_the_fullest_worker_tells(watch: FlinkWatch, server: FakeFlink) -> None:
    """The maxima, also where they are of different TaskManagers."""
    server.workers.append(server.workers[0] | {HEAP_USED: 160 * MIB, GC_PER_SECOND: 250.0})
    values = (await watch.sample()).values
    assert values[JobMeasure.GC_PRESSURE] == 0.25
    assert values[JobMeasure.HEAP_MAX_USAGE_RATIO] == 0.5
    assert values[JobMeasure.METASPACE_MEMORY_USED] == 60 * MIB


async def test_a_flink_without_the_gc_metric_is_asked_for_it_once(watch: FlinkWatch, server: FakeFlink) -> None:
    """One unknown name empties the answer: asked with it always, such a cluster would have no memory at all."""
    del server.workers[0][GC_PER_SECOND]
    values = (await watch.sample()).values
    assert JobMeasure.GC_PRESSURE not in values
    assert values[JobMeasure.HEAP_MEMORY_USED] == 80 * MIB
    assert server.asked(METRICS) == 2
    await watch.sample()
    assert server.asked(METRICS) == 3


async def test_the_gc_metric_is_looked_for_again_when_nothing_comes(watch: FlinkWatch, server: FakeFlink) -> None:
    """After an upgrade of the cluster, or while no TaskManager was there."""
    worker = dict(server.workers[0])
    server.workers = [{}]
    assert set((await watch.sample()).values) == {JobMeasure.LAG_ORIGIN}
    server.workers = [{name: value for name, value in worker.items() if name != GC_PER_SECOND}]
    await watch.sample()
    server.workers = [{}]
    await watch.sample()
    server.workers = [worker]
    assert (await watch.sample()).values[JobMeasure.GC_PRESSURE] == 0.005


async def test_workers_are_asked_once_a_tick_for_all_jobs(watch: FlinkWatch, server: FakeFlink) -> None:
    """A session cluster has hundreds of jobs."""
    await watch.sample()
    await watch.collector.update_metrics(watch.context, watch.at)
    assert server.asked(METRICS) == 1


@pytest.mark.parametrize("kind", FaultKind)
async def test_workers_are_not_vital(kind: FaultKind, server: FakeFlink, hasty: FlinkClient, job: FakeJob) -> None:
    """The reference waits for them without limit, or fails; here the measures are absent and the sample stands."""
    watch = FlinkWatch(server, hasty, job)
    server.plant(Fault(path="/taskmanagers*", kind=kind))
    now = await watch.sample()
    assert set(now.values) == {JobMeasure.LAG_ORIGIN}
    assert now.vertices
    assert now.settings.task_manager_memory_bytes is None
    server.heal()
    assert (await watch.sample()).settings.task_manager_memory_bytes == 800 * MIB


async def test_the_size_of_a_worker_is_asked_seldom(watch: FlinkWatch, server: FakeFlink) -> None:
    """It changes with a restart only."""
    await watch.sample()
    await watch.sample()
    assert server.asked("/taskmanagers") == 1
    await watch.sample(after_s=timedelta(minutes=5).total_seconds())
    assert server.asked("/taskmanagers") == 2
