"""What a source has shown that it can do."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest

from headgate.algorithm.observed import Observations, average, observed_rate, unblocked_rate
from headgate.testing.builders import START, at

UNKNOWN = math.nan


@pytest.mark.parametrize(
    ("share", "rate"), [(0.0, 900.0), (0.1, 1000.0), (0.75, 3600.0), (1.0, UNKNOWN), (1.2, UNKNOWN)]
)
def test_time_spent_waiting_is_taken_out(share: float, rate: float) -> None:
    """900 records/s in nine tenths of the time are 1,000; who does nothing but wait shows nothing."""
    assert unblocked_rate(900, share) == pytest.approx(rate, nan_ok=True)


@pytest.mark.parametrize(
    ("rate", "lag", "blocked", "observed"),
    [
        (UNKNOWN, 1e9, 0.0, UNKNOWN),
        (0.0, 0.0, 0.0, math.inf),
        (100.0, 3_000.0, 0.5, 200.0),
        (100.0, 2_999.0, 0.5, 77.0),
        (100.0, UNKNOWN, 0.5, 77.0),
        (100.0, 3_000.0, 1.0, 77.0),
        (100.0, 3_000.0, UNKNOWN, 77.0),
    ],
)
def test_only_a_source_that_is_behind_shows_what_it_can_do(
    rate: float, lag: float, blocked: float, observed: float
) -> None:
    """Behind is 30 seconds of input; otherwise what it showed before is carried on."""
    assert observed_rate(rate, lag, blocked, 30, 77.0) == pytest.approx(observed, nan_ok=True)


@pytest.mark.parametrize(
    ("values", "least", "mean"),
    [
        ((), 1, UNKNOWN),
        ((UNKNOWN,), 1, UNKNOWN),
        ((1.0, UNKNOWN, 3.0), 2, 2.0),
        ((1.0, UNKNOWN), 2, UNKNOWN),
        ((math.inf, 4.0), 1, 4.0),
        ((math.inf, UNKNOWN), 9, math.inf),
    ],
)
def test_infinities_count_only_among_themselves(values: tuple[float, ...], least: int, mean: float) -> None:
    """A finite value is worth more than any number of infinite ones; the unknown is worth nothing."""
    assert average(values, least) == pytest.approx(mean, nan_ok=True)


def remembered(window_s: float, stabilization_s: float) -> list[float]:
    """Give what is remembered after observations 1, 2, 3, ... every ten seconds for a minute."""
    seen = Observations(running_since=START)
    for number in range(7):
        seen.add(
            at(10.0 * number),
            float(number),
            stabilization=timedelta(seconds=stabilization_s),
            window=timedelta(seconds=window_s),
        )
    return [value for _, value in seen.values]


def test_observations_are_as_old_as_the_window_at_most() -> None:
    """The one on the border stays."""
    assert remembered(window_s=20, stabilization_s=0) == [4.0, 5.0, 6.0]


def test_nothing_is_forgotten_before_a_window_is_full() -> None:
    """It begins to fill with the first sample after stabilization."""
    assert remembered(window_s=20, stabilization_s=45) == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert remembered(window_s=20, stabilization_s=40) == [4.0, 5.0, 6.0]
