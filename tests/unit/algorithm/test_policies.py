"""Each policy bites where it should, says so, and stays silent otherwise."""

from __future__ import annotations

import math

import pytest

from headgate.algorithm.policies import (
    Limits,
    Policy,
    at_least,
    at_most,
    expecting,
    growing_within,
    held,
    not_shrinking_in_backlog,
    not_shrinking_while_busy,
    scaled,
    step_down_within,
    step_up_within,
    to_utilization_target,
    within_key_groups,
    within_partitions,
)
from headgate.model.decision import Proposal
from headgate.model.identity import VertexId
from headgate.model.metrics import ScalingMetric, VertexMetrics
from headgate.model.reasons import Reason
from headgate.model.topology import Vertex
from headgate.options.autoscaler import AutoscalerOptions

LIMITS = Limits(lower=5, upper=20)


def _proposal(current: int, wanted: int) -> Proposal:
    return Proposal(vertex=VertexId("v"), name="v", current=current, wanted=wanted)


@pytest.mark.parametrize(
    ("policy", "current", "wanted", "limited", "reason"),
    [
        (step_up_within(0.5), 10, 30, 15, Reason.SCALE_UP_FACTOR),
        (step_up_within(0.25), 10, 30, 13, Reason.SCALE_UP_FACTOR),
        (step_down_within(0.6), 10, 1, 4, Reason.SCALE_DOWN_FACTOR),
        (step_down_within(0.5), 5, 1, 3, Reason.SCALE_DOWN_FACTOR),
        (at_least(LIMITS), 10, 3, 5, Reason.MIN_PARALLELISM),
        (at_least(LIMITS), 4, 3, 5, Reason.MIN_PARALLELISM),
        (at_most(LIMITS), 10, 30, 20, Reason.MAX_PARALLELISM),
        (within_key_groups(128), 100, 130, 128, Reason.VERTEX_MAX_PARALLELISM),
        (within_partitions(15), 10, 20, 15, Reason.PARTITIONS),
        (within_partitions(15), 100, 50, 15, Reason.PARTITIONS),
        (not_shrinking_in_backlog(backlog=True), 10, 5, 10, Reason.BACKLOG),
        (held(hold=True, why="excluded"), 10, 5, 10, Reason.EXCLUDED),
    ],
)
def test_a_policy_that_bites_leaves_a_step(
    policy: Policy, current: int, wanted: int, limited: int, reason: Reason
) -> None:
    """The step tells what was wanted, what is left of it and why."""
    found = policy(_proposal(current, wanted))

    assert found.wanted == limited
    assert [(step.before, step.after, step.reason) for step in found.steps] == [(wanted, limited, reason)]


@pytest.mark.parametrize(
    ("policy", "current", "wanted"),
    [
        (step_up_within(0.5), 10, 15),
        (step_down_within(0.6), 10, 4),
        (step_down_within(1.0), 10, 0),
        (at_least(LIMITS), 10, 5),
        (at_most(LIMITS), 10, 20),
        (within_key_groups(128), 10, 128),
        (within_partitions(15), 10, 15),
        (within_partitions(None), 10, 500),
        (within_partitions(0), 10, 500),
        (not_shrinking_in_backlog(backlog=True), 10, 11),
        (not_shrinking_in_backlog(backlog=False), 10, 5),
        (held(hold=False, why="excluded"), 10, 5),
    ],
)
def test_a_policy_that_does_not_bite_leaves_none(policy: Policy, current: int, wanted: int) -> None:
    """The proposal comes back as it was."""
    proposal = _proposal(current, wanted)

    assert policy(proposal) is proposal


@pytest.mark.parametrize(("running", "lower", "upper"), [(4, 4, 20), (10, 5, 20), (25, 5, 25)])
def test_a_vertex_beyond_its_bounds_is_not_forced_back(running: int, lower: int, upper: int) -> None:
    """It may stay where it runs, and come back; it goes no further."""
    vertex = Vertex(id=VertexId("v"), name="v", parallelism=running, max_parallelism=128)

    assert Limits.of(vertex, AutoscalerOptions(min_parallelism=5, max_parallelism=20)) == Limits(
        lower=lower, upper=upper
    )


def test_limits_that_leave_nothing_are_refused() -> None:
    """A least parallelism above the largest is a mistake of whoever gives both."""
    with pytest.raises(ValueError, match="least parallelism 6 is above the largest 5"):
        Limits(lower=6, upper=5)


def test_the_factor_moves_the_proposal() -> None:
    """A factor of 3.2 makes 32 of 10, rounded up."""
    metrics = VertexMetrics(metrics={}, needed_capacity=160.0, factor=3.2, outside=True)

    found = to_utilization_target(metrics, 0.7)(_proposal(10, 10))

    assert found.wanted == 32
    assert found.steps[0].reason is Reason.UTILIZATION_TARGET
    assert found.steps[0].detail == "160/s needed to run 0.70 busy, factor 3.2"


def test_an_unknown_factor_moves_nothing() -> None:
    """No decision on what is not known."""
    unknown = VertexMetrics(metrics={}, needed_capacity=None, factor=None, outside=False)
    proposal = _proposal(10, 10)

    assert to_utilization_target(unknown, 0.7)(proposal) is proposal


@pytest.mark.parametrize(
    ("parallelism", "factor", "product"),
    [(10, 1.0, 10), (10, 0.0, 0), (3, 1.01, 4), (10, math.inf, 2**31 - 1), (10, math.nan, 0)],
)
def test_parallelism_is_scaled_upwards(parallelism: int, factor: float, product: int) -> None:
    """Rounded up, within 32 bits."""
    assert scaled(parallelism, factor) == product


def test_as_much_is_expected_of_each_subtask_as_now() -> None:
    """Ten subtasks that do 500/s let 32 expect 1600/s, and four 200/s."""
    metrics = VertexMetrics(
        metrics={ScalingMetric.TRUE_PROCESSING_RATE: 500.0}, needed_capacity=1.0, factor=1.0, outside=True
    )

    assert expecting(metrics)(_proposal(10, 32)).expected_rate == 1600.0
    assert expecting(metrics)(_proposal(10, 4)).expected_rate == 200.0


@pytest.mark.parametrize(("rates", "wanted"), [({ScalingMetric.TRUE_PROCESSING_RATE: 500.0}, 10), ({}, 32)])
def test_nothing_is_expected_of_no_change_or_no_rate(rates: dict[ScalingMetric, float], wanted: int) -> None:
    """Who stays has nothing to gain, and what is not known is not foretold."""
    metrics = VertexMetrics(metrics=rates, needed_capacity=1.0, factor=1.0, outside=True)

    assert expecting(metrics)(_proposal(10, wanted)).expected_rate is None


@pytest.mark.parametrize(("load", "wanted"), [(1.0, 10), (0.71, 10), (0.7, 5), (0.1, 5)])
def test_a_busy_vertex_does_not_shrink(load: float, wanted: int) -> None:
    """
    Above its target of 0.7 a vertex keeps its subtasks, whatever is computed to come to it.

    The reference shrinks a vertex that is always busy when a wrong output ratio makes its target small (FLINK-38538).
    """
    rates = {ScalingMetric.LOAD: load}
    metrics = VertexMetrics(metrics=rates, needed_capacity=1.0, factor=0.5, outside=True)

    assert not_shrinking_while_busy(metrics, AutoscalerOptions(), hold=True)(_proposal(10, 5)).wanted == wanted
    assert not_shrinking_while_busy(metrics, AutoscalerOptions(), hold=False)(_proposal(10, 5)).wanted == 5


def test_a_busy_vertex_may_grow() -> None:
    """Only shrinking is stopped, and an unknown load stops nothing."""
    busy = VertexMetrics(metrics={ScalingMetric.LOAD: 1.0}, needed_capacity=1.0, factor=2.0, outside=True)
    unknown = VertexMetrics(metrics={}, needed_capacity=1.0, factor=0.5, outside=True)

    assert not_shrinking_while_busy(busy, AutoscalerOptions(), hold=True)(_proposal(10, 20)).wanted == 20
    assert not_shrinking_while_busy(unknown, AutoscalerOptions(), hold=True)(_proposal(10, 5)).wanted == 5


@pytest.mark.parametrize("reason", [Reason.SKEW, Reason.SATURATED, Reason.DOWNSTREAM_LIMIT])
def test_growth_that_cannot_help_is_cut(reason: Reason) -> None:
    """To the factor that can, rounded up; shrinking is none of its business."""
    cut = growing_within(1.25, reason)

    assert cut(_proposal(10, 30)).wanted == 13
    assert cut(_proposal(10, 30)).steps[-1].reason is reason
    assert cut(_proposal(10, 5)).wanted == 5
