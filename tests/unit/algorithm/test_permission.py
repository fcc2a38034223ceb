"""Whether a wanted rescale may be made now, check by check in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.algorithm.decide import decide
from headgate.algorithm.memory.config import Key
from headgate.model.decision import ConfigChanges, Decision, Outcome
from headgate.model.events import EventReason
from headgate.model.metrics import JobMetric, JobValue
from headgate.model.reasons import Reason
from headgate.model.samples import EngineSettings
from headgate.model.state import JobState, ScalingRecord
from headgate.model.topology import Topology
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Deviation, Parity
from headgate.options.units import MemorySize
from headgate.testing.builders import START, chain, evaluated, sample

GIB = 2**30
FREE = AutoscalerOptions(alignment_mode="OFF", scale_down_interval=timedelta())
"""Nothing is aligned, nothing waits."""
MIDNIGHT = "0:00-0:30"
"""A period that the stories' begin lies in."""
CLUSTER = EngineSettings(
    slots_per_task_manager=4,
    task_manager_cpus=2.0,
    task_manager_memory_bytes=8 * GIB,
    memory={Key.PROCESS_SIZE: "8g"},
)
USED: Mapping[JobMetric, float] = {
    JobMetric.METASPACE_MEMORY_USED: 0.1 * GIB,
    JobMetric.HEAP_MEMORY_USED: 1.0 * GIB,
    JobMetric.MANAGED_MEMORY_USED: 0.0,
}


def _job(parallelism: Mapping[str, int]) -> Topology:
    graph = chain(parallelism)
    return replace(graph, vertices=tuple(replace(v, slot_sharing_group="default") for v in graph.vertices))


def _decided(
    factors: Mapping[str, float],
    options: AutoscalerOptions = FREE,
    *,
    restarts: Sequence[float] = (),
    settings: EngineSettings | None = None,
    used: Mapping[JobMetric, float] | None = None,
) -> Decision:
    """Decide for source (10) -> sink (10), which took so many seconds to restart before."""
    topology = _job({"source": 10, "sink": 10})
    metrics = evaluated(topology, factors)
    job = {metric: JobValue(average=mean) for metric, mean in (used or {}).items()}
    history = tuple(
        ScalingRecord(decision_id="d", at=START, before={}, after={}, restart=timedelta(seconds=restart))
        for restart in restarts
    )
    state = JobState(history=history)
    return decide(sample(topology, settings=settings), replace(metrics, job=job), options, START, state)


def _events(decision: Decision) -> list[EventReason]:
    return [notice.reason for notice in decision.notices]


def test_a_rescale_in_whose_way_nothing_stands_is_wanted() -> None:
    """The control loop decides whether it is carried out."""
    assert _decided({"sink": 2.0}).outcome is Outcome.RESCALE


def test_to_save_one_subtask_is_not_worth_a_long_restart() -> None:
    """
    20 subtasks stand still for 200 s; one subtask saved for an hour is less.

    The reference shrinks all the same, and some jobs did so 20 times a day (FLINK-36018, FLINK-36535).
    """
    shrinking = {"sink": 0.9}

    found = _decided(shrinking, restarts=[10, 200])

    assert (found.outcome, found.reason) == (Outcome.KEEP, Reason.NOT_WORTH_RESTART)
    assert "costs 4000 subtask-seconds, shrinking saves 3600 within" in found.message
    assert _decided(shrinking, restarts=[180]).outcome is Outcome.RESCALE
    theirs = replace(FREE, parity=Parity.REFERENCE)
    assert _decided(shrinking, theirs, restarts=[10, 200]).outcome is Outcome.RESCALE
    free = replace(FREE, deviations_off=(Deviation.WORTH_RESTART,))
    assert _decided(shrinking, free, restarts=[10, 200]).outcome is Outcome.RESCALE


def test_a_longer_horizon_makes_shrinking_worth_it() -> None:
    """Who lets a job run for days gains by a smaller one."""
    patient = replace(FREE, rescale_horizon=timedelta(days=1))

    assert _decided({"sink": 0.9}, patient, restarts=[200]).outcome is Outcome.RESCALE


def test_growth_is_worth_any_restart() -> None:
    """Even where another vertex shrinks by it."""
    assert _decided({"sink": 1.2}, restarts=[900]).outcome is Outcome.RESCALE
    assert _decided({"source": 0.9, "sink": 1.2}, restarts=[900]).outcome is Outcome.RESCALE


def test_what_was_never_measured_stops_nothing() -> None:
    """Without a measured restart there is nothing to compare with."""
    assert _decided({"sink": 0.9}).outcome is Outcome.RESCALE


def test_a_job_that_may_not_be_scaled_is_advised() -> None:
    """The wish stands, with its numbers, as advice."""
    found = _decided({"sink": 2.0}, replace(FREE, scaling_enabled=False))

    assert (found.outcome, found.reason) == (Outcome.RESCALE, Reason.ADVICE)
    assert found.message.endswith("; scaling.enabled is false")


def test_within_an_excluded_period_there_is_advice_only() -> None:
    """It names the period."""
    options = replace(FREE, excluded_periods=("12:00-13:00", MIDNIGHT), excluded_periods_time_zone="UTC")

    found = _decided({"sink": 2.0}, options)

    assert (found.outcome, found.reason) == (Outcome.RESCALE, Reason.EXCLUDED_PERIOD)
    assert found.message.endswith(f"; not now, by excluded.periods {MIDNIGHT}")


def test_an_excluded_period_counts_in_its_own_time_zone() -> None:
    """Half past midnight in London is half past one in Berlin."""
    options = replace(FREE, excluded_periods=(f"{MIDNIGHT} @ Europe/Berlin",), excluded_periods_time_zone="UTC")

    assert _decided({"sink": 2.0}, options).reason is Reason.UTILIZATION_TARGET


def test_advice_asks_for_no_memory_and_no_quota() -> None:
    """As in the reference it ends before them."""
    options = replace(FREE, scaling_enabled=False, quota_cpu=1.0)

    found = _decided({"sink": 2.0}, options, settings=CLUSTER, used=USED)

    assert (found.reason, _events(found)) == (Reason.ADVICE, [])


def test_growth_past_the_quota_is_told_and_not_made() -> None:
    """20 slots of four each are five TaskManagers of two CPUs."""
    found = _decided({"sink": 2.0}, replace(FREE, quota_cpu=9.0), settings=CLUSTER)

    assert (found.outcome, found.reason) == (Outcome.KEEP, Reason.RESOURCE_QUOTA)
    assert _events(found) == [EventReason.RESOURCE_QUOTA_REACHED]
    assert "10 CPUs" in found.message
    assert _decided({"sink": 2.0}, replace(FREE, quota_cpu=10.0), settings=CLUSTER).outcome is Outcome.RESCALE


def test_the_quota_is_the_real_totals() -> None:
    """13 slots of four each are four TaskManagers and eight CPUs; the reference counts the three that are full."""
    options = replace(FREE, quota_cpu=6.0)
    theirs = replace(options, parity=Parity.REFERENCE)

    assert _decided({"sink": 1.3}, options, settings=CLUSTER).reason is Reason.RESOURCE_QUOTA
    assert _decided({"sink": 1.3}, theirs, settings=CLUSTER).outcome is Outcome.RESCALE


def test_memory_that_would_fit_is_recommended_and_not_set() -> None:
    """Tuning is off by default: an event, no settings."""
    found = _decided({"sink": 2.0}, settings=CLUSTER, used=USED)

    assert _events(found) == [EventReason.CONFIGURATION_RECOMMENDATION]
    assert found.notices[0].message.endswith("memory tuning is disabled")
    assert found.config == ConfigChanges()


def test_enabled_tuning_goes_with_the_rescale() -> None:
    """
    The settings travel with the decision.

    The quota counts what the TaskManagers have now: not every engine can change it in a running job. The reference
    counts what they would have.
    """
    tuned = replace(FREE, memory_tuning_enabled=True)
    scarce = replace(tuned, quota_memory=MemorySize(20 * GIB))

    found = _decided({"sink": 2.0}, tuned, settings=CLUSTER, used=USED)

    assert Key.PROCESS_SIZE in found.config.overrides
    refused = _decided({"sink": 2.0}, scarce, settings=CLUSTER, used=USED)
    assert (refused.changes, refused.config) == ({}, ConfigChanges())
    assert _decided({"sink": 2.0}, replace(scarce, parity=Parity.REFERENCE), settings=CLUSTER, used=USED).changes


def test_the_recommendation_is_told_even_where_the_quota_refuses() -> None:
    """In the reference's order: memory first, then the quota by it."""
    found = _decided({"sink": 2.0}, replace(FREE, quota_cpu=9.0), settings=CLUSTER, used=USED)

    assert _events(found) == [EventReason.CONFIGURATION_RECOMMENDATION, EventReason.RESOURCE_QUOTA_REACHED]


@pytest.mark.parametrize("missing", list(USED))
def test_memory_is_not_tuned_on_what_is_not_known(missing: JobMetric) -> None:
    """The reference takes a use that was not measured for none, and would take the memory away."""
    known = {metric: mean for metric, mean in USED.items() if metric is not missing}
    theirs = replace(FREE, parity=Parity.REFERENCE)

    assert _events(_decided({"sink": 2.0}, settings=CLUSTER, used=known)) == []
    assert _events(_decided({"sink": 2.0}, theirs, settings=CLUSTER, used=known)) == [
        EventReason.CONFIGURATION_RECOMMENDATION
    ]


def test_a_job_that_is_kept_is_asked_nothing() -> None:
    """No memory is recommended to a job that needs no change, and no period is named."""
    found = _decided({}, replace(FREE, excluded_periods=(MIDNIGHT,)), settings=CLUSTER, used=USED)

    assert (found.reason, _events(found)) == (Reason.BALANCED, [])
