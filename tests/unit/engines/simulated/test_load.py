"""What arrives over time."""

from __future__ import annotations

import statistics
from datetime import timedelta

import pytest

from headgate.engines.simulated.load import Arrivals, Load, LoadPoint
from headgate.simulate import sine, steps, trace


def test_steps_jump_and_traces_do_not() -> None:
    """The same points, read in two ways; the last one holds for ever."""
    rates = {0: 100.0, 100: 200.0}
    assert [steps(rates).rate_per_s(at) for at in (0, 50, 100, 500)] == [100, 100, 200, 200]
    assert [trace(rates).rate_per_s(at) for at in (0, 50, 100, 500)] == [100, 150, 200, 200]


def test_a_wave_swings_around_its_rate_and_never_below_nothing() -> None:
    """A wave that is higher than its rate is cut off."""
    wave = sine(100, 300, timedelta(seconds=40))
    assert [round(wave.rate_per_s(at)) for at in (0, 10, 20, 30)] == [100, 400, 100, 0]


def test_noise_follows_from_the_seed_and_not_from_the_steps() -> None:
    """Asked for at other instants in between, the rate at an instant is the same."""
    load = Load(rate=100, noise=0.1)
    fine, coarse = Arrivals(load, "7"), Arrivals(load, "7")
    every = [fine.rate_per_s(at) for at in range(600)]
    assert [coarse.rate_per_s(at) for at in range(0, 600, 60)] == every[::60]
    assert Arrivals(load, "8").rate_per_s(0) != every[0]


def test_noise_has_the_width_it_is_given() -> None:
    """Around the rate, which is its mean."""
    noisy = Arrivals(Load(rate=100, noise=0.1), "0")
    drawn = [noisy.rate_per_s(10 * number) for number in range(2000)]
    assert statistics.fmean(drawn) == pytest.approx(100, rel=0.02)
    assert statistics.stdev(drawn) == pytest.approx(10, rel=0.1)


def test_points_out_of_order_are_refused() -> None:
    """They would make a rate ambiguous."""
    late, early = (LoadPoint(at=timedelta(seconds=at), rate=1) for at in (10, 5))
    with pytest.raises(ValueError, match="in order of their time"):
        Load(points=(late, early))
