"""The formula of the HPA and the two metrics of the paper, each by hand."""

from __future__ import annotations

import math

import pytest

from headgate.algorithm.hpa.formula import (
    Tolerance,
    desired,
    factor_to,
    relative_lag_change,
    usage_ratio,
    utilization,
)
from headgate.algorithm.policies import LARGEST

USUAL = Tolerance()


@pytest.mark.parametrize(("slope", "rate", "change"), [(0, 100, 1), (100, 100, 2), (50, 200, 1.25), (-50, 100, 0.5)])
def test_the_lag_change_is_what_comes_over_what_is_read(slope: float, rate: float, change: float) -> None:
    """Where 200 are read and 50 pile up every second, 250 come: 1.25 of what is read."""
    assert relative_lag_change(slope, rate) == change


def test_of_a_job_that_reads_nothing_nobody_can_tell_it() -> None:
    """Neither infinity nor one: a job that hangs is not answered by more of it."""
    assert math.isnan(relative_lag_change(1000.0, 0.0))
    assert math.isnan(relative_lag_change(math.nan, 1.0))


@pytest.mark.parametrize("slope", [1.0, -1.0])
def test_next_to_nothing_read_is_a_number_all_the_same(slope: float) -> None:
    """A rate too small to divide by must not end in infinity, which no number of replicas is."""
    change = relative_lag_change(slope, 5e-324)
    assert change == math.copysign(LARGEST, slope)
    assert usage_ratio(change, 1.0) == change


@pytest.mark.parametrize(("idle_ms", "share"), [(0, 1), (300, 0.7), (1000, 0), (1020, 0), (-3, 1)])
def test_who_is_not_idle_is_utilized(idle_ms: float, share: float) -> None:
    """300 ms of a second idle are 0.7; counters that are read a moment apart are cut."""
    assert utilization(idle_ms) == pytest.approx(share)


def test_unknown_idle_time_stays_unknown() -> None:
    """NaN is neither busy nor idle."""
    assert math.isnan(utilization(math.nan))


def test_kubernetes_own_example() -> None:
    """200m of 100m doubles, 50m of 100m halves: the documentation's numbers."""
    assert desired(4, usage_ratio(0.2, 0.1), USUAL) == 8
    assert desired(4, usage_ratio(0.05, 0.1), USUAL) == 2


def test_fifty_replicas_at_90_of_75_become_sixty() -> None:
    """The example of Kubernetes' text on tolerance."""
    assert desired(50, usage_ratio(0.90, 0.75), USUAL) == 60


def test_parts_of_a_replica_are_a_whole_one() -> None:
    """3 times 1.34 is 4.02: five."""
    assert desired(3, 1.34, USUAL) == 5


def test_thousandths_keep_an_eleventh_away() -> None:
    """0.84 of 0.7 is 1.2 exactly: ten become twelve, and not thirteen for a rounding error."""
    assert desired(10, usage_ratio(0.84, 0.7), USUAL) == 12


@pytest.mark.parametrize(
    ("ratio", "tolerance", "replicas"),
    [
        (1.1, Tolerance(), 10),
        (0.9, Tolerance(), 10),
        (1.101, Tolerance(), 12),
        (0.899, Tolerance(), 9),
        (1.05, Tolerance(scale_up=0.0), 11),
        (0.95, Tolerance(scale_up=0.0), 10),
        (0.9, Tolerance(scale_down=0.05), 9),
        (0.8, Tolerance(scale_down=0.3), 10),
        (1.3, Tolerance(scale_up=0.5), 10),
    ],
)
def test_each_direction_has_its_own_tolerance(ratio: float, tolerance: Tolerance, replicas: int) -> None:
    """Both ends are tolerated; what is beyond one is answered in full."""
    assert desired(10, ratio, tolerance) == replicas


def test_a_factor_leads_to_exactly_what_is_wanted() -> None:
    """`ceil(current * factor)` of every pair up to 300, of some of which plain division gives one too many."""
    pairs = [(current, wanted) for current in range(1, 301) for wanted in range(1, 301)]
    assert [math.ceil(current * factor_to(current, wanted)) for current, wanted in pairs] == [w for _, w in pairs]
    assert any(math.ceil(current * (wanted / current)) != wanted for current, wanted in pairs)
