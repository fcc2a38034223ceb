"""How much a rate varies by itself."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.algorithm.arrival.series import at_rates, levels, noisy, stretching

from headgate.algorithm.arrival.variation import variation

SOURCES = 100
OVER_ONE_SECOND = 2 * 0.2**2
"""Of a rate whose means over two seconds vary by 20 %, independently."""


def median_of(noise: float, *, length: int, held: int = 1, every_s: float = 2.0) -> float:
    """Give what is told of noise, in the middle of many series."""
    rates = noisy(1000.0, noise=noise, shape=(SOURCES, length), held=held)
    return float(np.median(variation(at_rates(rates, every_s=every_s))))


def test_a_constant_rate_does_not_vary() -> None:
    """Nor does one of nothing at all."""
    assert variation(at_rates(levels((50, 800.0)))).tolist() == [0.0]
    assert variation(at_rates(levels((50, 0.0)))).tolist() == [0.0]


@pytest.mark.parametrize("length", [12, 30, 150])
def test_noise_is_told_as_large_as_it_is(length: int) -> None:
    """The largest of several scales counts, which makes it a little more rather than less."""
    assert OVER_ONE_SECOND <= median_of(0.2, length=length) <= 1.6 * OVER_ONE_SECOND


def test_it_is_that_of_one_second_however_long_a_stretch_is() -> None:
    """Twice the time has half the variance, so four times as long with half the noise is the same."""
    assert median_of(0.1, length=100, every_s=8.0) == pytest.approx(median_of(0.2, length=100, every_s=2.0), rel=0.05)


@pytest.mark.parametrize("held", [5, 10])
def test_slow_noise_is_seen_at_a_longer_scale(held: int) -> None:
    """What is held for several stretches hardly differs from one to the next, and yet is not taken to be steady."""
    told, truly = median_of(0.2, length=300, held=held), held * OVER_ONE_SECOND

    assert 0.5 * truly < told < 2 * truly


def test_steps_between_two_levels_do_not_count() -> None:
    """Neither one step nor two; a step in noise adds nothing to the noise."""
    assert variation(at_rates(levels((30, 400.0), (30, 1600.0)))).tolist() == [0.0]
    assert variation(at_rates(levels((30, 400.0), (30, 1600.0), (30, 400.0)))).tolist() == [0.0]
    steady = noisy(400.0, noise=0.2, shape=(SOURCES, 60))
    stepping = steady * np.where(np.arange(60) < 30, 1.0, 4.0)

    assert np.median(variation(at_rates(stepping))) < 1.3 * np.median(variation(at_rates(steady)))


def test_it_does_not_depend_on_the_level() -> None:
    """It is a share: a hundred times the load varies alike."""
    rates = noisy(1000.0, noise=0.2, shape=(3, 80))

    assert variation(at_rates(100 * rates)) == pytest.approx(variation(at_rates(rates)), rel=1e-3)


def test_too_little_known_gives_nothing() -> None:
    """Ten stretches have nine differences, of which six are left; nine have one too few."""
    assert variation(at_rates(levels((10, 1.0)))).tolist() == [0.0]
    assert np.isnan(variation(at_rates(levels((9, 1.0))))).all()
    nothing = np.zeros((2, 0), dtype=np.int64)
    assert np.isnan(variation(stretching(nothing, nothing))).all()


def test_a_source_of_which_less_is_known_is_told_alike() -> None:
    """What stands at the left of its first stretch, where others have some, is not taken for nothing coming in."""
    rates = noisy(1000.0, noise=0.2, shape=(1, 40))
    alone, wide = at_rates(rates), at_rates(noisy(1000.0, noise=0.5, shape=(2, 150)))
    wide.took_ms[1], wide.came[1] = 0, 0
    wide.took_ms[1, -40:], wide.came[1, -40:] = alone.took_ms[0], alone.came[0]

    assert variation(wide)[1] == variation(alone)[0]
