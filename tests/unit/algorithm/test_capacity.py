"""From a demand to a capacity, a band and a factor."""

from __future__ import annotations

import math

import numpy as np
import pytest

from headgate.algorithm.batch import Tuning
from headgate.algorithm.capacity import Band, Demand, band, capacity, needed_capacity, outside, scale_factor
from headgate.algorithm.fleet import tuning
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Parity

DEFAULT: Tuning = tuning([(AutoscalerOptions(), 1)])

EXACT = np.array([True])


def _demand(target: float, catch_up: float = 0.0) -> Demand:
    return Demand(target=np.array([target]), catch_up=np.array([catch_up]))


def test_what_1000_records_a_second_need() -> None:
    """1000/s at 0.7 busy are 1428.6/s; a restart of 300 s to work off in 1800 s adds 166.7/s."""
    assert needed_capacity(_demand(1000), DEFAULT)[0] == 1595.238
    assert needed_capacity(_demand(1000, catch_up=100), DEFAULT)[0] == 1695.238


def test_a_record_in_four_seconds_is_a_need() -> None:
    """The reference rounds it to nothing, and would shrink the vertex as far as it may."""
    assert needed_capacity(_demand(0.25), DEFAULT)[0] == 0.399
    assert needed_capacity(_demand(0.25), tuning([(AutoscalerOptions(parity=Parity.REFERENCE), 1)]))[0] == 0


def test_the_restart_counts_at_the_upper_end_only() -> None:
    """So a vertex that was just enlarged for it does not look too large."""
    found = band(_demand(1000), DEFAULT, np.array([False]))

    assert (found.scale_up[0], found.scale_down[0]) == (1000, 2666.667)


def test_nobody_is_too_large_in_a_backlog() -> None:
    """The band opens: only a vertex that cannot even keep up when always busy lies outside."""
    found = band(_demand(1000, catch_up=50), DEFAULT, np.array([True]))

    assert (found.scale_up[0], found.scale_down[0]) == (1050, math.inf)


def test_an_unknown_demand_needs_an_unknown_capacity() -> None:
    """NaN stays NaN, also where the utilization would make it infinite."""
    assert math.isnan(capacity(_demand(math.nan), np.array([0.7]), exact=EXACT)[0])
    assert math.isnan(capacity(_demand(1000, catch_up=math.nan), np.array([0.0]), exact=EXACT)[0])


@pytest.mark.parametrize(
    ("true_rate", "expected"), [(99, True), (100, False), (200, False), (201, True), (math.nan, False)]
)
def test_outside_is_beyond_the_ends(true_rate: float, *, expected: bool) -> None:
    """The ends themselves lie within, and an unknown rate never gives cause."""
    ends = Band(scale_up=np.array([100.0]), scale_down=np.array([200.0]))

    assert bool(outside(np.array([true_rate]), ends)[0]) is expected


@pytest.mark.parametrize(
    ("needed", "true_rate", "factor"),
    [(300, 200, 1.5), (300, math.inf, 0), (0, math.inf, 0), (300, 0, math.inf), (0, 0, 0), (300, math.nan, math.nan)],
)
def test_the_factor_is_need_over_rate(needed: float, true_rate: float, factor: float) -> None:
    """An idle vertex can do anything; who needs nothing wants nothing; unknown stays unknown."""
    found = scale_factor(np.array([float(needed)]), np.array([float(true_rate)]), exact=EXACT)

    assert found[0] == pytest.approx(factor, nan_ok=True)
