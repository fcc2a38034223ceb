"""Loads that rise steadily instead of jumping."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.algorithm.arrival.series import at_rates, levels, noisy

from headgate.algorithm.arrival.estimate import arrivals
from headgate.algorithm.stats import Floats

SOURCES = 200
LINE: Floats = np.linspace(400.0, 800.0, 20)[None, :]


def test_of_a_rising_load_its_end_is_told() -> None:
    """The mean of what came since it began to rise would lag behind by half of the rise."""
    known = arrivals(at_rates(np.concatenate([levels((60, 400.0)), LINE], axis=1)))

    assert known.rising.tolist() == [True]
    assert known.rate == pytest.approx(800.0, rel=0.03)


def test_what_is_told_of_a_noisy_rise_is_right_within_its_error() -> None:
    """Noise hides some rises: of those that are sure the end is told as it is."""
    rates = noisy(LINE, noise=0.05, shape=(SOURCES, 20))

    known = arrivals(at_rates(rates))

    rising = known.rising
    assert rising.mean() > 0.25
    apart = (known.rate[rising] - 800.0) / known.error[rising]
    assert np.abs(apart).mean() < 1.5


def test_a_falling_load_is_told_by_its_mean() -> None:
    """That is on the safe side: nobody shrinks for what a line says."""
    known = arrivals(at_rates(LINE[:, ::-1]))

    assert known.rising.tolist() == [False]
    assert known.rate[0] > 400.0


@pytest.mark.parametrize("held", [1, 4])
def test_a_steady_load_hardly_ever_seems_to_rise(held: int) -> None:
    """However its noise is drawn: a few in a thousand at any time."""
    rates = noisy(1000.0, noise=0.2, shape=(1000, 120), held=held)

    assert arrivals(at_rates(rates)).rising.mean() <= 0.005


def test_a_jump_is_no_rise() -> None:
    """What came since it is level."""
    known = arrivals(at_rates(noisy(levels((60, 400.0), (20, 1600.0)), noise=0.05, shape=(SOURCES, 80))))

    assert known.changed.all()
    assert known.rising.mean() <= 0.02


def test_few_stretches_make_no_line() -> None:
    """Four may lie on one by chance."""
    assert not arrivals(at_rates(LINE[:, :4])).rising.any()
