"""The load of the comparison on Spark: the same at each call, and invertible."""

from __future__ import annotations

import pytest
from benchmarks.spark_load import Load

from headgate.engines.spark.source.profile import parse_profile

SEEDS = (1, 2, 3)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_seed_has_the_same_peak_between_its_steps(seed: int) -> None:
    """A crest of the sine is there, so that every size for the peak is made for the same rate."""
    load = Load(seed=seed)
    up_s, down_s = load.steps
    assert load.peak_per_s == pytest.approx(750, abs=0.5)
    assert up_s < load.rates.index(load.peak_per_s) < down_s


@pytest.mark.parametrize("seed", SEEDS)
def test_the_load_steps_up_and_down_again(seed: int) -> None:
    """By nearly the step's height within a second; what is left is the sine."""
    load = Load(seed=seed)
    up_s, down_s = load.steps
    assert load.rates[up_s] - load.rates[up_s - 1] == pytest.approx(load.step_per_s, abs=15)
    assert load.rates[down_s] - load.rates[down_s - 1] == pytest.approx(-load.step_per_s, abs=15)
    assert sum(abs(now - before) > 100 for before, now in zip(load.rates, load.rates[1:], strict=False)) == 2


def test_seeds_differ_and_repeat() -> None:
    """One seed gives one load."""
    assert Load(seed=1).rates == Load(seed=1).rates
    assert Load(seed=1).rates != Load(seed=2).rates


def test_rows_come_from_the_beginning_of_the_lead_on() -> None:
    """A minute before the comparison; nothing is there earlier."""
    load = Load(seed=1, lead_s=60)
    assert load.offered(-60) == load.offered(-70) == 0
    assert load.offered(-59) == pytest.approx(load.first_per_s)
    assert load.offered(10) - load.offered(0) == pytest.approx(sum(load.rates[:10]))


@pytest.mark.parametrize("at_s", [-59.5, -0.1, 0, 100.25, 1199.5, 1230])
def test_when_a_row_came_is_the_inverse_of_what_came(at_s: float) -> None:
    """Before the comparison, within it, and after its last second, whose rate goes on."""
    load = Load(seed=3)
    assert load.arrival_s(load.offered(at_s)) == pytest.approx(at_s)


def test_the_source_is_told_the_same_load() -> None:
    """Its own integral, counted from when the lead begins, gives the same rows."""
    load = Load(seed=2)
    told = parse_profile(load.profile())
    for at_s in (-30, 0, 333.3, 1199):
        assert told.rows_until(at_s + load.lead_s) == pytest.approx(load.offered(at_s))
