"""Numbers with the interval in which they lie."""

from __future__ import annotations

import numpy as np
import pytest

from headgate.rescales.intervals import line_through, median_of, rank_correlation

STATES = np.repeat([0.0, 10.0, 100.0, 500.0], 10)
NOISE = np.random.default_rng(5).normal(0, 0.05, len(STATES))


def test_a_median_lies_in_its_interval() -> None:
    """Which is the same every time, and narrower the more values there are."""
    values = np.random.default_rng(3).normal(10, 1, 200)
    few, many = median_of(list(values[:10])), median_of(list(values))
    assert few.low <= few.middle <= few.high
    assert many.high - many.low < few.high - few.low
    assert median_of(list(values)) == many


def test_two_values_have_no_interval() -> None:
    """A median all the same."""
    found = median_of([1.0, 3.0])
    assert found.middle == 2
    assert np.isnan(found.low)


def test_a_line_is_found_through_noise() -> None:
    """Its slope within its interval, and nothing of a bend."""
    line = line_through(STATES, 0.3 + 0.004 * STATES + NOISE)
    assert line.slope.middle == pytest.approx(0.004, rel=0.03)
    assert line.slope.low < line.slope.middle < line.slope.high < 0.0045
    assert line.base.middle == pytest.approx(0.3, abs=0.02)
    assert line.explained > 0.95
    assert not line.curvature.excludes(0)


def test_a_bend_is_seen() -> None:
    """What grows with the square of the state is not called linear."""
    assert line_through(STATES, 1e-5 * STATES**2 + NOISE).curvature.excludes(0)


def test_ranks_are_compared_within_what_is_alike() -> None:
    """Large states load long, at every parallelism: that alone is no effect of the parallelism."""
    parallelism = np.tile([1.0, 2.0, 4.0, 8.0], 10)
    noise = np.random.default_rng(5).normal(0, 1, len(parallelism))
    unrelated = rank_correlation(parallelism, 100 * STATES + noise, STATES.tolist())
    assert not unrelated.excludes(0)
    falling = rank_correlation(parallelism, 100 * STATES - parallelism, STATES.tolist())
    assert falling.middle == pytest.approx(-1)
    assert falling.excludes(0)
