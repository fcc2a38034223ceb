"""What came in over ever longer times."""

from __future__ import annotations

import numpy as np
from tests.unit.algorithm.arrival.series import at_rates, levels, stretching

from headgate.algorithm.arrival.estimate import arrivals
from headgate.algorithm.arrival.spans import means
from headgate.algorithm.arrival.suffixes import Suffixes


def test_times_double_until_all_is_in() -> None:
    """Six stretches of two seconds."""
    known = arrivals(at_rates(levels((3, 100.0), (3, 400.0))))

    assert known.means_s.tolist() == [[2.0, 4.0, 8.0, 12.0]]
    assert known.means.tolist() == [[400.0, 400.0, 325.0, 250.0]]


def test_who_knows_less_has_its_longest_time_again() -> None:
    """Beside a source with six stretches one with a single one, and one with none."""
    took, came = np.zeros((3, 6), dtype=np.int64), np.zeros((3, 6), dtype=np.int64)
    took[0], came[0] = 2000, 200_000
    took[1, -1], came[1, -1] = 2000, 800_000

    spans_s, rates = means(Suffixes.of(stretching(took, came)), np.array([6, 1, 0]))

    assert spans_s.tolist() == [[2.0, 4.0, 8.0, 12.0], [2.0] * 4, [0.0] * 4]
    assert rates[1].tolist() == [400.0] * 4
    assert np.isnan(rates[2]).all()
