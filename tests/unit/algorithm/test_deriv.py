"""The slope of a gauge: numbers of Prometheus' own tests, and some by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from headgate.algorithm.deriv import deriv

EVERY_FIVE_MINUTES = np.array([300.0 * number for number in range(11)])


def test_a_straight_line_has_its_slope() -> None:
    """80 more every five minutes: 0.2666 a second, as Prometheus' test of `deriv` has it."""
    assert deriv(EVERY_FIVE_MINUTES, np.array([80.0 * number for number in range(11)])) == pytest.approx(
        0.26666666666666666, rel=1e-15
    )


def test_a_gauge_that_falls_back_has_the_slope_of_the_best_line() -> None:
    """0 to 40 in steps of 10, then 0 to 50: the number that Prometheus' test expects."""
    values = np.array([0, 10, 20, 30, 40, 0, 10, 20, 30, 40, 50], dtype=float)
    assert deriv(EVERY_FIVE_MINUTES, values) == pytest.approx(0.010606060606060607, rel=1e-15)


def test_uneven_samples_count_by_their_times() -> None:
    """Of (0 s, 0), (10 s, 10), (40 s, 70) the covariance is 4700/3 and the variance 2600/3, by hand."""
    assert deriv(np.array([0.0, 10.0, 40.0]), np.array([0.0, 10.0, 70.0])) == pytest.approx(47 / 26)


def test_it_does_not_matter_when_it_all_was() -> None:
    """Instants of today, as seconds since 1970, give the slope that small numbers give."""
    at_s, values = np.array([0.0, 7.0, 15.0, 31.0]), np.array([5.0, 9.0, 2.0, 44.0])
    assert deriv(at_s + 1_800_000_000, values) == pytest.approx(deriv(at_s, values), rel=1e-12)


def test_what_stays_has_no_slope_at_all() -> None:
    """Exactly 0, whatever the rounding errors of a regression would make of it."""
    assert deriv(np.array([0.1, 0.2, 0.7]), np.array([0.3, 0.3, 0.3])) == 0.0


@pytest.mark.parametrize("count", [0, 1])
def test_too_few_values_have_none(count: int) -> None:
    """Prometheus answers nothing then."""
    assert math.isnan(deriv(np.arange(count, dtype=float), np.ones(count)))


def test_two_values_at_one_instant_have_none() -> None:
    """A line straight up is no slope."""
    assert math.isnan(deriv(np.array([3.0, 3.0]), np.array([1.0, 2.0])))
