"""Rates, means and rounding against the reference's cases."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from headgate.algorithm.epochs import combine
from headgate.algorithm.rates import mean, rate, round3
from headgate.algorithm.reduce import reduce_windows
from headgate.algorithm.stats import WindowStats
from headgate.model.measures import Measure
from headgate.testing.golden import Case, number
from headgate.testing.tables import Row, table_of


def _reduced(measure: Measure, series: Sequence[tuple[int, float]]) -> WindowStats:
    rows = [Row(vertex="v", at_ms=at_ms, values={measure: value}) for at_ms, value in series]
    windows = reduce_windows(table_of(rows))
    return combine(windows, np.zeros(len(windows.job), dtype=np.int64), 1)[measure]


def test_rate(case: Case) -> None:
    """A rate is the difference of the ends of what is known over the time between them."""
    series = [(point["t_ms"], number(point["value"])) for point in case.inputs["series"]]

    found = rate(_reduced(Measure.NUM_RECORDS_IN, series))

    assert found[0] == pytest.approx(float(case.expected["rate"]), rel=1e-9, nan_ok=True)


def test_average(case: Case) -> None:
    """A mean leaves out what is missing or infinite, and needs a least number of values."""
    series = [(1000 * index, number(value)) for index, value in enumerate(case.inputs["values"])]

    found = mean(_reduced(Measure.OBSERVED_TPR, series), case.inputs["min_elements"])

    assert found[0] == pytest.approx(float(case.expected["average"]), rel=1e-9, nan_ok=True)


def test_rounding(case: Case) -> None:
    """Metrics are rounded to three decimals, but never to zero."""
    found = round3(np.array([float(case.inputs["value"])]))

    assert found[0] == pytest.approx(float(case.expected["rounded"]), rel=1e-15, nan_ok=True)
