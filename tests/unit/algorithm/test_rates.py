"""Rates, means and roundings where they are easily got wrong."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from headgate.algorithm.rates import mean, rate, rnd, round3
from headgate.algorithm.stats import WindowStats


def _stats(**known: float) -> WindowStats:
    unknown = dict.fromkeys(("first", "last", "increase", "elapsed_ms"), math.nan)
    floats = {name: np.array([float(value)]) for name, value in {**unknown, "total": 0, "count": 0, **known}.items()}
    return WindowStats(**floats, infinite=np.array([False]))


def test_a_rate_is_per_second() -> None:
    """Times are milliseconds, rates are per second; values of one instant count as a millisecond apart."""
    assert rate(_stats(increase=30, elapsed_ms=60_000))[0] == 0.5
    assert rate(_stats(increase=3, elapsed_ms=0))[0] == 3000


def test_no_rate_without_two_values() -> None:
    """What was not seen twice has no rate."""
    assert math.isnan(rate(_stats())[0])


def test_a_mean_needs_its_least_number() -> None:
    """Too few values are no mean, but nothing except infinities is infinite however few."""
    seen = _stats(total=9, count=3)

    assert mean(seen)[0] == 3
    assert math.isnan(mean(seen, 4)[0])
    assert mean(replace(_stats(), infinite=np.array([True])), 4)[0] == math.inf
    assert mean(replace(seen, infinite=np.array([True])))[0] == 3


@pytest.mark.parametrize(
    ("number", "rounded"),
    [
        (1.0005, 1.001),
        (-1.0005, -1.001),
        (0.0015, 0.002),
        (2.675, 2.675),
        (0.00049, 0.00049),
        (-0.0001, -0.0001),
        (1234567.8915, 1234567.892),
        (1e15 + 0.125, 1e15 + 0.125),
        (math.inf, math.inf),
        (-math.inf, -math.inf),
    ],
)
def test_rounding_follows_the_decimal_text(number: float, rounded: float) -> None:
    """Halves go away from zero by what the number looks like, not by its binary value; zero is never reached."""
    assert round3(np.array([number]))[0] == rounded


def test_nothing_stays_nothing() -> None:
    """NaN passes both roundings."""
    assert np.isnan(round3(np.array([math.nan]))).all()
    assert np.isnan(rnd(np.array([math.nan]))).all()


@pytest.mark.parametrize(
    ("number", "whole"), [(0.5, 1), (-0.5, 0), (2.5, 3), (0.49999999999999994, 0), (math.inf, 2.0**63)]
)
def test_whole_numbers_round_halves_up(number: float, whole: float) -> None:
    """Also where adding a half would itself be rounded."""
    assert rnd(np.array([number]))[0] == whole
