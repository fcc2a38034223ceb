"""What a decision notices on its way becomes an event of its job, under a key by which repetitions merge."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.model.events import Event, EventReason, EventType
from headgate.model.identity import VertexId
from headgate.model.metrics import EvaluatedMetrics, JobMetric, JobValue, ScalingMetric
from headgate.model.reasons import Reason
from headgate.model.samples import EngineSettings
from headgate.model.state import JobState, ScalingRecord
from headgate.options.autoscaler import AutoscalerOptions, LegacyAdjustMode
from headgate.ports import Candidate
from headgate.testing.builders import ORDERS, START, at, chain, context, evaluated, sample
from headgate.testing.scenario import Scenario

AGG = VertexId("agg")
GIB = 2**30
ALL_DAY = "0:00-23:59:59:999"
CLUSTER = EngineSettings(
    checkpoint_interval_s=10.0,
    task_manager_cpus=1.0,
    task_manager_memory_bytes=8 * GIB,
    memory={"taskmanager.memory.process.size": "8g"},
)


def _run(world: Scenario, options: AutoscalerOptions, parallelism: int = 1, partitions: int | None = None) -> None:
    """Let the job run on the cluster with these options."""
    graph = chain({"source": 1, "agg": parallelism})
    vertices = (replace(vertex, slot_sharing_group="default", partitions=partitions) for vertex in graph.vertices)
    world.engine.add(context(options=options), sample(replace(graph, vertices=tuple(vertices)), settings=CLUSTER))


def _measuring(world: Scenario, **averages: float) -> None:
    """Let the evaluation know these job-wide values."""
    job = {JobMetric(name): JobValue(current=value, average=value) for name, value in averages.items()}

    def answer(one: Candidate) -> EvaluatedMetrics:
        return replace(evaluated(one.sample.topology, world.factors), job=job)

    world.evaluator.answer = answer


async def _told(world: Scenario, reason: EventReason, *seconds: float) -> list[Event]:
    for second in seconds or (0,):
        await world.tick(second)
    return [event for event in world.events.told if event.reason is reason]


async def test_an_ineffective_growth_is_told(world: Scenario) -> None:
    """By default it does not stop the next one."""
    _run(world, AutoscalerOptions(), parallelism=2)
    then = {ScalingMetric.TRUE_PROCESSING_RATE: 200.0, ScalingMetric.EXPECTED_PROCESSING_RATE: 400.0}
    grew = ScalingRecord(decision_id="d", at=START, before={AGG: 1}, after={AGG: 2}, metrics={AGG: then})
    world.store.save(ORDERS, JobState(history=(grew,)), 0)

    (event,) = await _told(world, EventReason.INEFFECTIVE_SCALING)

    assert event.subject == ORDERS
    assert event.fields["blocking"] == 0
    assert len(world.engine.requests) == 1


async def test_a_change_that_alignment_stops_is_told(world: Scenario) -> None:
    """As a warning: somebody has to choose another number of partitions, or another mode."""
    legacy = AutoscalerOptions(legacy_adjust_mode=LegacyAdjustMode.EVENLY_SPREAD, max_parallelism=5)
    _run(world, legacy, parallelism=4, partitions=7)

    (event,) = await _told(world, EventReason.SCALING_LIMITED)

    assert event.type is EventType.WARNING
    assert event.message == "agg wants 5 and gets 4: 7 key groups or partitions, 1 to 5 is allowed"
    assert world.engine.requests == []


async def test_memory_pressure_is_told(world: Scenario) -> None:
    """It is the answer to why a job that is behind does not grow."""
    _run(world, AutoscalerOptions(gc_pressure_threshold=0.5))
    _measuring(world, GC_PRESSURE=0.8)

    (event,) = await _told(world, EventReason.MEMORY_PRESSURE)

    assert "0.8" in event.message
    assert world.engine.requests == []
    assert world.log.decisions[-1].reason is Reason.MEMORY_PRESSURE


async def test_a_reached_quota_is_told(world: Scenario) -> None:
    """Four TaskManagers would be needed for four slots."""
    _run(world, AutoscalerOptions(quota_cpu=3.0))

    (event,) = await _told(world, EventReason.RESOURCE_QUOTA_REACHED)

    assert "4 CPUs, quota.cpu is 3" in event.message
    assert world.engine.requests == []
    assert world.store.load(ORDERS).state.intent is None


async def test_memory_that_would_fit_is_told_beside_the_rescale(world: Scenario) -> None:
    """The recommendation comes first, then the report of what is done, then that it was asked for."""
    _run(world, AutoscalerOptions())
    _measuring(world, HEAP_MEMORY_USED=GIB, METASPACE_MEMORY_USED=0.1 * GIB, MANAGED_MEMORY_USED=0.0)

    await world.tick(0)

    told = [EventReason.CONFIGURATION_RECOMMENDATION, EventReason.SCALING_REPORT, EventReason.SCALING]
    assert world.events.reasons[1:] == told


async def test_in_an_excluded_period_the_wish_is_reported_and_not_carried_out(world: Scenario) -> None:
    """The report says that nothing is changed, and by which period."""
    _run(world, AutoscalerOptions(excluded_periods=(ALL_DAY,), excluded_periods_time_zone="UTC"))

    (event,) = await _told(world, EventReason.SCALING_REPORT)

    assert event.message.startswith("advice (nothing is changed): ")
    assert f"; not now, by excluded.periods {ALL_DAY}" in event.message
    assert event.fields["acts"] == 0
    assert world.engine.requests == []
    assert world.log.decisions[-1].reason is Reason.EXCLUDED_PERIOD


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (AutoscalerOptions(quota_cpu=3.0), EventReason.RESOURCE_QUOTA_REACHED),
        (AutoscalerOptions(excluded_periods=(ALL_DAY,)), EventReason.SCALING_REPORT),
        (AutoscalerOptions(scaling_enabled=False), EventReason.SCALING_REPORT),
    ],
)
async def test_what_is_told_again_has_the_same_key(
    world: Scenario, options: AutoscalerOptions, reason: EventReason
) -> None:
    """So that whoever merges lets one through in each `scaling.event.interval` of the job."""
    _run(world, replace(options, scaling_event_interval=timedelta(minutes=7)))

    first, second = await _told(world, reason, 0, 60)

    assert (first.at, second.at) == (at(0), at(60))
    assert first.key == second.key
    assert first.key.startswith(f"{ORDERS}:")
    assert first.merge_interval == second.merge_interval == timedelta(minutes=7)


async def test_a_rescale_that_is_made_is_never_merged(world: Scenario) -> None:
    """Two rescales are two events, however alike."""
    _run(world, AutoscalerOptions(alignment_mode="OFF"))

    reports = await _told(world, EventReason.SCALING_REPORT, 0, 60)

    assert len(world.engine.requests) == 2
    assert len({event.key for event in reports}) == 2
    assert {event.merge_interval for event in reports} == {None}
