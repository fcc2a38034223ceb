"""The curve of a vertex's rate: fitting it, and what measurements leave open."""

from __future__ import annotations

import math

import pytest

from headgate.algorithm.curve import EXPONENTS, Point, believed, bracket, fitted, towards_linear

PRIOR = 0.75


def _power(exponent: float, *parallelisms: int) -> list[Point]:
    return [Point(p, 100.0 * p**exponent) for p in parallelisms]


def test_the_linear_rule_is_ds2s() -> None:
    """Ten instances that do half of what is needed become twenty, and the other way round."""
    assert Point(10, 500.0).least_serving(1000.0) == 20
    assert Point(20, 1000.0).least_serving(500.0) == 10
    assert Point(20, 1000.0).least_serving(501.0) == 11


def test_a_bent_curve_asks_for_more_growth_and_allows_more_shrinking() -> None:
    """By the square root, twice the rate takes four times the subtasks, and half of it a quarter."""
    assert Point(4, 100.0).least_serving(200.0, 0.5) == 16
    assert Point(16, 200.0).least_serving(100.0, 0.5) == 4


def test_there_is_always_one_subtask_and_never_an_overflow() -> None:
    """Hardly any need takes one; an absurd need is a large whole number."""
    assert Point(10, 1e9).least_serving(1e-9, 0.5) == 1
    assert Point(10, 1e-300).least_serving(1e300, 0.5) > 10**9


def test_one_point_says_nothing() -> None:
    """Without a history the prior holds."""
    assert fitted(_power(0.9, 8), PRIOR) == pytest.approx(PRIOR)


@pytest.mark.parametrize("exponent", [0.55, 0.7, 0.85, 1.0])
def test_points_far_apart_tell_the_exponent(exponent: float) -> None:
    """From 2 to 32 subtasks the curve is known, whatever the prior."""
    assert fitted(_power(exponent, 2, 32), PRIOR) == pytest.approx(exponent, abs=0.02)


def test_points_close_together_leave_the_prior() -> None:
    """From 20 to 21 subtasks a rate that is 5 % off would mean an exponent of 2, or of 0: it means nothing."""
    high, low = [Point(20, 100.0), Point(21, 110.0)], [Point(20, 100.0), Point(21, 100.0)]

    assert fitted(high, PRIOR) == pytest.approx(PRIOR, abs=0.03)
    assert fitted(low, PRIOR) == pytest.approx(PRIOR, abs=0.03)


def test_more_points_weigh_more() -> None:
    """Three measurements of linear growth move the prior further than two."""
    assert fitted(_power(1.0, 4, 6, 9), PRIOR) > fitted(_power(1.0, 4, 6), PRIOR) > PRIOR


def test_the_exponent_stays_within_what_is_believed() -> None:
    """A vertex that does not scale at all, and one that scales by a miracle; a lower prior lowers the floor."""
    flat, steep = [Point(2, 100.0), Point(32, 100.0)], [Point(2, 100.0), Point(32, 9000.0)]

    assert fitted(flat, PRIOR) == EXPONENTS[0]
    assert fitted(steep, PRIOR) == EXPONENTS[1]
    assert fitted(flat, 0.4) == 0.4


def test_shrinking_begins_half_way_to_linear() -> None:
    """Idle subtasks slow the others down less than busy ones."""
    assert towards_linear(0.75) == 0.875
    assert towards_linear(1.0) == 1.0


@pytest.mark.parametrize(
    ("past", "agrees"),
    [
        (Point(5, 70.0), True),
        (Point(5, 110.0), True),
        (Point(5, 200.0), False),
        (Point(5, 30.0), False),
        (Point(20, 100.0), True),
        (Point(20, 50.0), False),
        (Point(20, 400.0), False),
        (Point(10, 100.0), False),
    ],
)
def test_what_contradicts_the_present_is_not_believed(past: Point, agrees: bool) -> None:  # noqa: FBT001
    """Ten subtasks do 100 now: five cannot have done twice that, nor twenty half, unless something has changed."""
    assert believed([past], Point(10, 100.0)) == ((past,) if agrees else ())


def test_what_was_too_slow_bounds_from_below() -> None:
    """Twelve were too slow for 100: it takes thirteen at least, also for a vertex that is fast enough."""
    assert bracket([Point(12, 90.0)], Point(30, 200.0), 100.0) == (13, 15)


def test_who_is_too_slow_now_must_grow() -> None:
    """One more at least; nothing is known of the most."""
    assert bracket([], Point(10, 99.0), 100.0) == (11, math.inf)


def test_what_was_fast_enough_bounds_from_above() -> None:
    """Twenty did 160 of 100, so by a linear estimate thirteen do: the vertex does not go back to twenty."""
    assert bracket([Point(20, 160.0)], Point(9, 80.0), 100.0) == (10, 13)


def test_too_slow_outweighs_fast_enough() -> None:
    """Twenty seemed to say that thirteen would do, and thirteen did not."""
    assert bracket([Point(20, 160.0)], Point(13, 98.0), 100.0) == (14, 14)


def test_the_present_outweighs_an_older_reading_above_it() -> None:
    """Fourteen were once too slow by a hair, ten are fast enough now: nothing asks for growth."""
    assert bracket([Point(14, 99.0)], Point(10, 101.0), 100.0) == (1, 10)
