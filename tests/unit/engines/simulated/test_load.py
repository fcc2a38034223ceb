"""What arrives over time."""

from __future__ import annotations

import statistics
from datetime import timedelta

import pytest

from headgate.engines.simulated.load import Arrivals, Arriving, Load, LoadPoint
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


@pytest.mark.parametrize(("arriving", "noise"), [(Arriving.GAMMA, 0.5), (Arriving.PARETO, 0.25)])
def test_noise_of_any_distribution_has_the_width_it_is_given(arriving: Arriving, noise: float) -> None:
    """Around the rate, which is its mean, and never below nothing."""
    noisy = Arrivals(Load(rate=100, noise=noise, arriving=arriving), "0")
    drawn = [noisy.rate_per_s(10 * number) for number in range(4000)]
    assert statistics.fmean(drawn) == pytest.approx(100, rel=0.03)
    assert statistics.stdev(drawn) == pytest.approx(100 * noise, rel=0.15)
    assert min(drawn) >= 0


def test_a_heavy_tail_is_heavier_than_a_normal_one() -> None:
    """Now and then many times as much comes, which a normal distribution never brings."""
    largest = {
        arriving: max(noisy.rate_per_s(10 * number) for number in range(2000))
        for arriving in (Arriving.NORMAL, Arriving.PARETO)
        for noisy in (Arrivals(Load(rate=100, noise=0.5, arriving=arriving), "0"),)
    }
    assert largest[Arriving.PARETO] > 1.5 * largest[Arriving.NORMAL]


def test_poisson_arrivals_are_whole_records() -> None:
    """As many of them vary by their root, whatever the noise; where none are due none come."""
    single = Arrivals(Load(rate=2.5, arriving=Arriving.POISSON), "0")
    came = [10 * single.rate_per_s(10 * number) for number in range(2000)]
    assert came == pytest.approx([round(records) for records in came])
    assert statistics.fmean(came) == pytest.approx(25, rel=0.02)
    assert statistics.variance(came) == pytest.approx(25, rel=0.15)
    assert Arrivals(Load(arriving=Arriving.POISSON), "0").rate_per_s(5) == 0


def test_points_out_of_order_are_refused() -> None:
    """They would make a rate ambiguous."""
    late, early = (LoadPoint(at=timedelta(seconds=at), rate=1) for at in (10, 5))
    with pytest.raises(ValueError, match="in order of their time"):
        Load(points=(late, early))
