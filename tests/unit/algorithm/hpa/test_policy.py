"""Both metrics together: the lag never shrinks a job, utilization cannot tell what a backlog needs."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from headgate.algorithm.hpa.policy import LAG, UTILIZATION, Policy, recommend
from headgate.algorithm.hpa.readings import Reading
from headgate.algorithm.hpa.stabilization import Stabilization

POLICY = Policy(minimum_lag=1000, stabilization=Stabilization(scale_down_s=0))
CALM = Reading(at_s=0.0, lag=0.0, lag_slope=0.0, rate=100.0, idle_ms=300.0)
"""At its target of 0.7, and without lag."""


def replicas(reading: Reading, current: int = 4, policy: Policy = POLICY) -> int:
    """Give what is recommended by one reading."""
    return recommend([reading], current, policy, since_s=-math.inf).replicas


def test_a_job_at_its_target_stays() -> None:
    """0.7 of 0.7, no lag."""
    assert replicas(CALM) == 4


def test_a_growing_backlog_is_answered_in_proportion() -> None:
    """Twice as much comes as is read, three times, four times."""
    for times in (2, 3, 4):
        growing = replace(CALM, lag=5000.0, lag_slope=100.0 * (times - 1), idle_ms=0.0)
        assert replicas(growing) == 4 * times


def test_utilization_alone_cannot_answer_a_growing_backlog() -> None:
    """It ends at 1: however much piles up, it asks for the same 1/0.7, and with a target of 1 for nothing at all."""
    growing = [replace(CALM, lag=900.0, lag_slope=slope, idle_ms=0.0) for slope in (10.0, 100.0, 1000.0)]
    assert [replicas(each) for each in growing] == [6, 6, 6]
    assert [replicas(each, policy=replace(POLICY, utilization_target=1.0)) for each in growing] == [4, 4, 4]


@pytest.mark.parametrize("slope", [-100.0, -50.0, -5.0, 0.0])
@pytest.mark.parametrize("idle_ms", [math.nan, 900.0])
def test_the_lag_alone_never_shrinks(slope: float, idle_ms: float) -> None:
    """A backlog that is worked off needs those who do it, be utilization unknown or low."""
    assert replicas(replace(CALM, lag=5000.0, lag_slope=slope, idle_ms=idle_ms)) == 4


def test_a_lag_up_to_the_minimum_has_no_say() -> None:
    """Of 1000 records nobody grows, of 1001 one does; below, utilization shrinks the job by itself."""
    growing = replace(CALM, lag_slope=100.0)
    assert replicas(replace(growing, lag=1000.0)) == 4
    assert replicas(replace(growing, lag=1001.0)) == 8
    assert replicas(replace(growing, lag=1000.0, idle_ms=650.0)) == 2


def test_the_larger_wish_wins_and_is_named() -> None:
    """The lag wants 6, utilization 5, then the other way round."""
    reading = replace(CALM, lag=5000.0, lag_slope=50.0, idle_ms=200.0)
    found = recommend([reading], 4, POLICY, since_s=-math.inf)
    assert (found.replicas, found.followed and found.followed.metric) == (6, LAG)
    found = recommend([replace(reading, lag_slope=20.0, idle_ms=0.0)], 4, POLICY, since_s=-math.inf)
    assert (found.replicas, found.followed and found.followed.metric) == (6, UTILIZATION)


def test_a_job_that_hangs_is_not_shrunk() -> None:
    """It reads nothing and idles while its lag grows: the lag change is unknown, so nothing shrinks."""
    hanging = Reading(at_s=0.0, lag=5000.0, lag_slope=100.0, rate=0.0, idle_ms=1000.0)
    assert replicas(hanging) == 4


def test_an_idle_job_shrinks_to_one() -> None:
    """Nothing comes, nothing waits: that is known, not missing."""
    assert replicas(Reading(at_s=0.0, lag=0.0, lag_slope=0.0, rate=0.0, idle_ms=1000.0)) == 1


@pytest.mark.parametrize(("idle_ms", "expected"), [(0.0, 6), (300.0, 4), (900.0, 4)])
def test_without_a_lag_utilization_may_grow_but_not_shrink(idle_ms: float, expected: int) -> None:
    """The rule of the HPA for a missing metric."""
    assert replicas(replace(CALM, lag=math.nan, lag_slope=math.nan, idle_ms=idle_ms)) == expected


def test_without_any_metric_nothing_happens() -> None:
    """And it says so."""
    blind = Reading(at_s=0.0, lag=math.nan, lag_slope=math.nan, rate=math.nan, idle_ms=math.nan)
    found = recommend([blind], 4, POLICY, since_s=-math.inf)
    assert found.is_blind
    assert found.replicas == 4


def test_an_earlier_load_holds_a_job_until_it_has_left_the_window() -> None:
    """Minutes at 0.7, then at 0.35: half of it is enough, but only once five minutes said so."""
    policy = replace(POLICY, stabilization=Stabilization())
    calm = [replace(CALM, at_s=60.0 * minute) for minute in range(6)]
    idle = [replace(CALM, at_s=60.0 * minute, idle_ms=650.0) for minute in range(6, 11)]
    held = recommend([*calm, *idle[:-1]], 4, policy, since_s=0.0)
    assert held.is_held
    assert held.replicas == 4
    free = recommend([*calm, *idle], 4, policy, since_s=0.0)
    assert not free.is_held
    assert free.replicas == 2


def test_a_window_of_which_nothing_is_known_is_left_out() -> None:
    """As the HPA records no recommendation then."""
    policy = replace(POLICY, stabilization=Stabilization())
    blind = Reading(at_s=0.0, lag=math.nan, lag_slope=math.nan, rate=math.nan, idle_ms=math.nan)
    idle = replace(CALM, at_s=60.0, idle_ms=650.0)
    assert recommend([blind, idle], 4, policy, since_s=-math.inf).replicas == 2
