"""Epochs of a vertex put together."""

from __future__ import annotations

import math

import numpy as np
import pytest

from headgate.algorithm.epochs import combine
from headgate.algorithm.rates import rate
from headgate.algorithm.reduce import reduce_windows
from headgate.algorithm.stats import WindowStats
from headgate.model.measures import Measure
from headgate.model.windows import STATISTICS
from headgate.testing.tables import Row, table_of


def _combined(*rows: Row, measure: Measure = Measure.NUM_RECORDS_IN) -> WindowStats:
    windows = reduce_windows(table_of(rows))
    return combine(windows, np.zeros(len(windows.job), dtype=np.int64), 1)[measure]


def _counted(at_s: int, epoch: int, value: float) -> Row:
    return Row(vertex="v", at_ms=at_s * 1000, epoch=epoch, values={Measure.NUM_RECORDS_IN: value})


def test_a_reset_counter_does_not_shrink() -> None:
    """A task that restarts in mid-window counts from zero again: growth is what both lives brought."""
    stats = _combined(_counted(0, 0, 5000), _counted(10, 0, 6000), _counted(30, 1, 0), _counted(50, 1, 2000))

    assert stats.increase[0] == 3000
    assert stats.elapsed_ms[0] == 30_000
    assert rate(stats)[0] == 100
    assert stats.first[0] == 5000
    assert stats.last[0] == 2000


def test_a_lone_value_brings_no_time() -> None:
    """An epoch with one value has no growth and no time; with nothing else there is no rate."""
    stats = _combined(_counted(0, 0, 5000), _counted(10, 1, 0), _counted(20, 1, 700))
    lone = _combined(_counted(0, 0, 5000), _counted(10, 1, 0))

    assert rate(stats)[0] == 70
    assert math.isnan(lone.increase[0])
    assert math.isnan(lone.elapsed_ms[0])
    assert lone.last[0] == 0


def test_a_level_adds_up_over_epochs() -> None:
    """Sums and counts add up, the infinity of any epoch stays."""
    stats = _combined(
        Row(vertex="v", at_ms=0, epoch=0, values={Measure.OBSERVED_TPR: 4}),
        Row(vertex="v", at_ms=1, epoch=0, values={Measure.OBSERVED_TPR: math.inf}),
        Row(vertex="v", at_ms=2, epoch=1, values={Measure.OBSERVED_TPR: 1}),
        measure=Measure.OBSERVED_TPR,
    )

    assert (stats.total[0], stats.count[0], stats.infinite[0]) == (5, 2, True)


@pytest.mark.parametrize("measure", STATISTICS)
def test_what_was_never_seen_is_nan(measure: Measure) -> None:
    """Every measure that a window keeps is answered, also for a vertex without any row."""
    stats = _combined(measure=measure)

    assert np.isnan([stats.first[0], stats.last[0], stats.increase[0], stats.elapsed_ms[0]]).all()
    assert stats.count[0] == 0
    assert not stats.infinite[0]
