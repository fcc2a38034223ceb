"""Where a rate changed last."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.algorithm.arrival.series import at_rates, levels, noisy, stretching

from headgate.algorithm.arrival.change import LastParts, last_parts
from headgate.algorithm.arrival.stretches import Stretches
from headgate.algorithm.arrival.suffixes import Suffixes
from headgate.algorithm.arrival.variation import variation
from headgate.algorithm.stats import Floats

SOURCES = 100


def parts_of(stretches: Stretches) -> LastParts:
    """Give the last two parts of each source."""
    return last_parts(Suffixes.of(stretches), stretches.known.sum(axis=1), variation(stretches))


def changes(rates: Floats) -> list[int | None]:
    """Give the stretch at which the last part of each source begins; None where nothing changed."""
    found = parts_of(at_rates(rates))
    pairs = zip(found.before.tolist(), found.last.tolist(), strict=True)
    return [last if last > before else None for before, last in pairs]


@pytest.mark.parametrize("after", [1, 2, 3, 17, 60])
@pytest.mark.parametrize("factor", [4.0, 1.5, 0.25, 0.0])
def test_a_step_is_found_at_its_stretch(after: int, factor: float) -> None:
    """However long ago it was, one stretch is enough; upwards, downwards and to nothing."""
    assert changes(levels((60, 1000.0), (after, 1000.0 * factor))) == [60]


@pytest.mark.parametrize("before", [1, 2, 5])
def test_a_step_is_found_until_none_of_what_was_before_is_left(before: int) -> None:
    """What is looked back on ends somewhere: the older side may be as short as one stretch."""
    assert changes(levels((before, 1000.0), (60, 4000.0))) == [before]


def test_a_step_in_noise_is_found_near_its_stretch() -> None:
    """A fourfold load among noise of 20 %: in each of a hundred series, hardly ever a stretch beside it."""
    rates = noisy(1000.0, noise=0.2, shape=(SOURCES, 100)) * np.where(np.arange(100) < 90, 1.0, 4.0)

    found = changes(rates)

    assert set(found) <= {89, 90, 91}
    assert found.count(90) >= 95


def test_of_two_steps_the_later_one_counts() -> None:
    """Also where the first was the larger one, and where there were more."""
    assert changes(levels((40, 400.0), (20, 1600.0), (5, 1000.0))) == [60]
    assert changes(levels((40, 400.0), (20, 500.0), (5, 3000.0))) == [60]
    assert changes(levels((75, 400.0), (75, 1600.0), (75, 400.0), (4, 1600.0))) == [225]


def test_a_burst_that_is_over_is_behind_us() -> None:
    """The last part begins where it ended, though the rate is again what it was before."""
    assert changes(levels((40, 400.0), (6, 2000.0), (20, 400.0))) == [46]


@pytest.mark.parametrize("length", [15, 30, 100, 300])
def test_nothing_has_changed_in_noise(length: int) -> None:
    """At most one of a hundred series with noise of 20 % shows a change that is none."""
    rates = noisy(1000.0, noise=0.2, shape=(SOURCES, length), seed=length)

    assert changes(rates).count(None) >= 99


def test_slow_noise_is_hardly_ever_a_change() -> None:
    """Noise that is held for five stretches, once it was seen for a while."""
    rates = noisy(1000.0, noise=0.2, shape=(SOURCES, 150), held=5)

    assert changes(rates).count(None) >= 95


def test_a_ramp_is_cut_so_that_what_is_left_is_of_one_level() -> None:
    """After it the last part holds none of what was before it; under way, only the newest of it."""
    climb = np.linspace(1000.0, 3000.0, 30)[None, :]
    whole = np.concatenate([levels((60, 1000.0)), climb, levels((30, 3000.0))], axis=1)

    (after,), (under_way,) = changes(whole), changes(whole[:, :90])

    assert after is not None
    assert under_way is not None
    assert whole[0, after] > 0.9 * 3000.0
    assert whole[0, under_way] > 0.9 * 3000.0


def test_what_would_make_no_other_parallelism_is_no_change() -> None:
    """A step by a twentieth is nothing, however clearly it can be seen."""
    assert changes(levels((60, 1000.0), (60, 1050.0))) == [None]
    assert changes(levels((60, 1000.0), (60, 1200.0))) == [60]


def test_of_few_stretches_nothing_is_told() -> None:
    """How much the rate varies by itself is not known by then."""
    assert changes(levels((4, 1000.0), (4, 4000.0))) == [None]
    nothing = np.zeros((2, 0), dtype=np.int64)
    assert parts_of(stretching(nothing, nothing)).last.tolist() == [0, 0]


def test_a_load_that_steps_all_the_time_varies_by_itself() -> None:
    """A square wave has no level that it changes from: its mean is what comes in."""
    wave = np.where(np.arange(96) // 4 % 2, 400.0, 1600.0)[None, :]

    assert changes(wave) == [None]


def test_a_source_with_less_behind_it_begins_later() -> None:
    """Its only part begins with its first stretch, not with the column of the longest one."""
    stretches = at_rates(np.concatenate([levels((60, 1000.0)), levels((60, 500.0))]))
    stretches.took_ms[1, :40] = stretches.came[1, :40] = 0

    found = parts_of(stretches)

    assert found.before.tolist() == found.last.tolist() == [0, 40]
