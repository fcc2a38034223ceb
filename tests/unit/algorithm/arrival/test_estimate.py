"""The rate that comes in now, with its error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.algorithm.arrival.series import at_rates, levels, noisy, stretching

from headgate.algorithm.arrival.estimate import arrivals

SOURCES = 100


def test_a_steady_rate_is_told_over_all_that_is_known() -> None:
    """Two minutes of 1000/s."""
    known = arrivals(at_rates(levels((60, 1000.0))))

    assert known.rate.tolist() == [1000.0]
    assert known.lasted_s.tolist() == [120.0]
    assert known.changed.tolist() == [False]


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.9])
@pytest.mark.parametrize(("before", "after"), [(400.0, 1600.0), (1600.0, 400.0)])
def test_a_stretch_in_which_it_changed_counts_for_neither_side(before: float, after: float, share: float) -> None:
    """The load changes in the midst of a stretch: from the next one on the new rate is told, and nothing between."""
    mixed = (1 - share) * before + share * after

    known = arrivals(at_rates(levels((60, before), (1, mixed), (2, after))))

    assert known.rate == pytest.approx(after)
    assert known.changed.tolist() == [True]
    assert known.lasted_s[0] in {4.0, 6.0}


@pytest.mark.parametrize(("before", "after"), [(400.0, 1600.0), (1600.0, 400.0)])
def test_a_change_has_lasted_since_the_stretch_in_which_it_came(before: float, after: float) -> None:
    """Whether that stands by itself or not: it is not the younger for being seen better."""
    half = (before + after) / 2

    lasted = [arrivals(at_rates(levels((60, before), (1, half), (since, after)))).lasted_s[0] for since in (1, 2, 3, 9)]

    assert lasted == [4.0, 6.0, 8.0, 20.0]


def test_of_a_change_just_now_the_rate_may_not_be_known_yet() -> None:
    """The one stretch that differs may be half of the one and half of the other."""
    known = arrivals(at_rates(levels((60, 400.0), (1, 1000.0))))

    assert known.changed.tolist() == [True]
    assert np.isnan(known.rate).all()
    assert np.isinf(known.error).all()


def test_the_rate_since_the_change_holds_nothing_of_before() -> None:
    """A fourfold load in noise: a minute later the rate is right within the error that is told with it."""
    rates = noisy(400.0, noise=0.2, shape=(SOURCES, 130)) * np.where(np.arange(130) < 100, 1.0, 4.0)

    known = arrivals(at_rates(rates))

    assert known.changed.all()
    off = (known.rate - 1600.0) / known.error
    assert np.mean(np.abs(off) < 2) >= 0.9
    assert known.lasted_s == pytest.approx(60.0, abs=2.0)


def test_the_error_shrinks_with_time() -> None:
    """Four times as long is half the error, and the rates of many series do scatter by about so much."""
    short, long = (arrivals(at_rates(noisy(1000.0, noise=0.2, shape=(SOURCES, length)))) for length in (40, 160))

    assert np.median(long.error) == pytest.approx(np.median(short.error) / 2, rel=0.25)
    for known in (short, long):
        assert 0.6 * np.median(known.error) < known.rate.std() < 1.2 * np.median(known.error)


def test_records_that_are_counted_are_never_known_exactly() -> None:
    """Four records in a hundred seconds may as well have been two or six, however evenly they came."""
    known = arrivals(at_rates(levels((50, 0.04))))

    assert known.rate == pytest.approx(0.04)
    assert known.error == pytest.approx(0.02)


def test_nothing_that_comes_in_is_known_exactly() -> None:
    """A source that stands still, as long as it is known."""
    known = arrivals(at_rates(levels((50, 0.0))))

    assert (known.rate.tolist(), known.error.tolist(), known.changed.tolist()) == ([0.0], [0.0], [False])


def test_less_than_nothing_cannot_come_in() -> None:
    """A lag that is told late may make it look so."""
    assert arrivals(at_rates(levels((50, -30.0)))).rate.tolist() == [0.0]


def test_of_few_stretches_the_rate_is_told_without_an_error() -> None:
    """How much it varies takes ten of them."""
    known = arrivals(at_rates(levels((4, 1000.0))))

    assert known.rate.tolist() == [1000.0]
    assert np.isinf(known.error).all()


def test_without_a_stretch_nothing_is_known() -> None:
    """Beside a source that has some as well as alone."""
    stretches = at_rates(levels((50, 1000.0)).repeat(2, axis=0))
    stretches.took_ms[1] = stretches.came[1] = 0
    nothing = np.zeros((1, 0), dtype=np.int64)

    for known in (arrivals(stretches), arrivals(stretching(nothing, nothing))):
        assert np.isnan(known.rate[-1])
        assert np.isinf(known.error[-1])
        assert known.lasted_s[-1] == 0
        assert not known.changed[-1]


def test_what_comes_into_a_saturated_source_is_assumed() -> None:
    """Twice what it reads, known badly, since it has not waited any more: before that it was what it was."""
    calm, full = at_rates(levels((10, 300.0))), at_rates(levels((10, 300.0), (3, 500.0)))
    flags = np.zeros(full.took_ms.shape, dtype=np.bool_)
    flags[0, -3:] = True

    before, known = arrivals(calm), arrivals(replace(full, saturated=flags))

    assert not before.saturated.any()
    assert known.saturated.tolist() == [True]
    assert known.rate.tolist() == [1000.0]
    assert known.error.tolist() == [250.0]
    assert (known.lasted_s.tolist(), known.changed.tolist()) == ([6.0], [True])


def test_a_moment_without_waiting_is_no_saturation() -> None:
    """A burst that was read in four seconds."""
    stretches = at_rates(levels((10, 300.0), (2, 500.0)))
    flags = np.zeros(stretches.took_ms.shape, dtype=np.bool_)
    flags[0, -2:] = True

    assert not arrivals(replace(stretches, saturated=flags)).saturated.any()
