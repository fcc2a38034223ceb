"""
What every `MetricCollector` must do.

Use: subclass `MetricCollectorSuite` in a test file and define a fixture `stage` that gives a `CollectorStage`.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol

import pytest

from headgate.errors import NotFoundError, TransientError
from headgate.model.identity import JobKey
from headgate.model.measures import MeasureKind
from headgate.ports import JobContext, MetricCollector
from headgate.testing.conformance.travelling import answered

TICK = datetime(2026, 1, 1, 12, tzinfo=UTC)
SOON = timedelta(milliseconds=1)


class CollectorStage(Protocol):
    """A collector, and an engine whose time passes only when it is told to."""

    @property
    def collector(self) -> MetricCollector:
        """The one that is tested; it has looked at nothing yet."""

    @property
    def jobs(self) -> Sequence[JobContext]:
        """The running jobs, at least one; each has had time to be measured."""

    async def pass_time(self) -> timedelta:
        """Let the engine measure every vertex anew, and tell how long that took."""

    async def end_job(self) -> None:
        """Let the first job be gone."""

    async def go_silent(self) -> None:
        """Let the engine give no usable answer from now on."""


@pytest.mark.asyncio
class MetricCollectorSuite:
    """The contract of `headgate.ports.MetricCollector`, one behaviour a test."""

    @pytest.fixture
    def stage(self) -> CollectorStage:
        """Give a collector in front of running jobs; every subclass has its own."""
        raise NotImplementedError

    async def test_a_sample_is_of_the_job_and_the_tick(self, stage: CollectorStage) -> None:
        """Labelled as asked for, whatever the engine's own clock says."""
        sample = await stage.collector.update_metrics(stage.jobs[0], TICK)
        assert (sample.job, sample.at, sample.job_id) == (stage.jobs[0].key, TICK, stage.jobs[0].job_id)
        assert sample.running_since.utcoffset() == timedelta()

    async def test_jobs_that_are_sampled_at_once_are_told_apart(self, stage: CollectorStage) -> None:
        """Calls for different jobs run beside each other, and each gives its own job."""
        samples = await asyncio.gather(*(stage.collector.update_metrics(job, TICK) for job in stage.jobs))
        assert [sample.job for sample in samples] == [job.key for job in stage.jobs]

    async def test_only_vertices_of_the_graph_are_measured(self, stage: CollectorStage) -> None:
        """With numbers, or infinity where that is meant; what is unknown is absent, never NaN."""
        await stage.collector.update_metrics(stage.jobs[0], TICK)
        took = await stage.pass_time()
        sample = await stage.collector.update_metrics(stage.jobs[0], TICK + took)
        assert sample.vertices.keys() <= sample.topology.by_id.keys()
        assert not [value for one in sample.vertices.values() for value in one.values.values() if math.isnan(value)]
        assert not [value for value in sample.values.values() if math.isnan(value)]

    async def test_a_vertex_without_news_is_left_out(self, stage: CollectorStage) -> None:
        """The engine says the same as before: an unchanged counter is not a rate of zero."""
        await stage.collector.update_metrics(stage.jobs[0], TICK)
        again = await stage.collector.update_metrics(stage.jobs[0], TICK + SOON)
        assert again.vertices == {}
        assert again.topology.vertices

    async def test_a_vertex_with_news_is_there(self, stage: CollectorStage) -> None:
        """Measured later than before; its counters grow as long as its epoch stays."""
        before = await stage.collector.update_metrics(stage.jobs[0], TICK)
        took = await stage.pass_time()
        after = await stage.collector.update_metrics(stage.jobs[0], TICK + took)
        assert after.vertices
        for vertex, new in after.vertices.items():
            old = before.vertices.get(vertex)
            if old is None or old.epoch != new.epoch:
                continue
            assert new.measured_at > old.measured_at
            counters = [each for each in old.values if each.kind is MeasureKind.COUNTER]
            assert all(new.values[each] >= old.values[each] for each in counters if each in new.values)

    async def test_the_graph_is_the_one_that_samples_show(self, stage: CollectorStage) -> None:
        """A decision made on a sample must find the same graph when it is about to act."""
        sample = await stage.collector.update_metrics(stage.jobs[0], TICK)
        topology = await stage.collector.query_topology(stage.jobs[0])
        assert topology.fingerprint == sample.topology.fingerprint
        assert topology.parallelism == sample.topology.parallelism

    async def test_looking_at_the_graph_takes_no_sample(self, stage: CollectorStage) -> None:
        """What is new stays new until somebody takes a sample."""
        await stage.collector.update_metrics(stage.jobs[0], TICK)
        took = await stage.pass_time()
        await stage.collector.query_topology(stage.jobs[0])
        assert (await stage.collector.update_metrics(stage.jobs[0], TICK + took)).vertices

    async def test_a_job_that_is_gone_is_not_found(self, stage: CollectorStage) -> None:
        """Nobody waits for it."""
        await stage.end_job()
        with pytest.raises(NotFoundError):
            await stage.collector.update_metrics(stage.jobs[0], TICK)
        with pytest.raises(NotFoundError):
            await stage.collector.query_topology(stage.jobs[0])

    async def test_an_engine_without_answers_is_a_fault_that_passes(self, stage: CollectorStage) -> None:
        """It is asked again at the next tick; nothing else than this error leaves a collector."""
        await stage.go_silent()
        with pytest.raises(TransientError):
            await stage.collector.update_metrics(stage.jobs[0], TICK)
        with pytest.raises(TransientError):
            await stage.collector.query_topology(stage.jobs[0])

    async def test_forgetting_is_no_error_and_sampling_begins_anew(self, stage: CollectorStage) -> None:
        """Also of a job never seen."""
        await stage.collector.update_metrics(stage.jobs[0], TICK)
        stage.collector.forget(stage.jobs[0].key)
        stage.collector.forget(JobKey("nowhere", "never seen"))
        took = await stage.pass_time()
        assert (await stage.collector.update_metrics(stage.jobs[0], TICK + took)).job == stage.jobs[0].key

    async def test_other_metrics_are_numbers(self, stage: CollectorStage) -> None:
        """Of the JobManager one each, of the TaskManagers in their order, of other systems finite and dated."""
        managers = await stage.collector.query_jm_metrics(stage.jobs[0])
        assert not [value for value in managers.values() if math.isnan(value)]
        for one in (await stage.collector.query_tm_metrics(stage.jobs[0])).values():
            assert one.least <= one.mean <= one.most
        for signal in (await stage.collector.query_external_metrics(stage.jobs[0])).values():
            assert math.isfinite(signal.value)
            assert signal.measured_at.utcoffset() == timedelta()

    async def test_a_sample_travels_to_another_process(self, stage: CollectorStage) -> None:
        """It holds values and nothing else."""
        sample = await stage.collector.update_metrics(stage.jobs[0], TICK)
        assert answered(MetricCollector, "update_metrics", sample) == sample
