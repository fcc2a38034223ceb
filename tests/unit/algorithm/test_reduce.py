"""The numpy reducer: what a window keeps of its samples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from headgate.algorithm.columns import Table
from headgate.algorithm.reduce import reduce_windows
from headgate.model.measures import Measure
from headgate.model.windows import COLUMNS
from headgate.testing.tables import Row, table_of


def _reduce(*rows: Row) -> Table:
    return reduce_windows(table_of(rows))


def _kept(windows: Table, name: str) -> list[Any]:
    column = windows[name]
    return [value if valid else None for value, valid in zip(column.values.tolist(), column.valid, strict=True)]


def test_a_counter_keeps_its_ends() -> None:
    """First and last value stand with the times at which the engine measured them, in thousandths and milliseconds."""
    windows = _reduce(
        Row(vertex="v", at_ms=20_000, measured_ms=19_000, values={Measure.NUM_RECORDS_IN: 30}),
        Row(vertex="v", at_ms=0, measured_ms=-500, values={Measure.NUM_RECORDS_IN: 10}),
        Row(vertex="v", at_ms=10_000, measured_ms=9_000, values={Measure.NUM_RECORDS_IN: 25.5}),
    )

    assert _kept(windows, "records_in__first") == [10_000]
    assert _kept(windows, "records_in__first_ms") == [-500]
    assert _kept(windows, "records_in__last") == [30_000]
    assert _kept(windows, "records_in__last_ms") == [19_000]
    assert _kept(windows, "records_in__count") == [3]


def test_the_ends_are_those_of_the_first_and_last_tick() -> None:
    """Ticks order the values, whatever order they came in; times are the earliest and the latest measured."""
    windows = _reduce(
        Row(vertex="v", at_ms=10_000, measured_ms=8_000, values={Measure.NUM_RECORDS_IN: 8}),
        Row(vertex="v", at_ms=0, measured_ms=3_000, values={Measure.NUM_RECORDS_IN: 3}),
    )

    assert _kept(windows, "records_in__first") == [3_000]
    assert _kept(windows, "records_in__last") == [8_000]
    assert _kept(windows, "records_in__first_ms") == [3_000]
    assert _kept(windows, "records_in__last_ms") == [8_000]


def test_a_level_keeps_sum_and_count() -> None:
    """Both are those of the finite values; the infinite one only leaves a flag."""
    windows = _reduce(
        *(Row(vertex="v", at_ms=i, values={Measure.OBSERVED_TPR: v}) for i, v in enumerate([2, math.inf, 5, -1]))
    )

    assert _kept(windows, "observed_tpr__sum") == [6_000]
    assert _kept(windows, "observed_tpr__count") == [3]
    assert _kept(windows, "observed_tpr__infinite") == [True]
    assert _kept(windows, "load__infinite") == [False]


def test_what_was_never_seen_is_null() -> None:
    """Without a finite value there is no statistic but the count, which is zero."""
    windows = _reduce(Row(vertex="v", at_ms=0, values={Measure.OBSERVED_TPR: math.inf}))

    assert [_kept(windows, f"lag_records__{name}") for name in ("first", "first_ms", "last", "last_ms")] == [[None]] * 4
    assert _kept(windows, "lag_records__count") == [0]
    assert _kept(windows, "observed_tpr__sum") == [None]
    assert _kept(windows, "observed_tpr__count") == [0]
    assert _kept(windows, "observed_tpr__infinite") == [True]


def test_rows_without_a_value_are_passed_over() -> None:
    """The ends of a measure are its first and last value, not those of the window."""
    windows = _reduce(
        Row(vertex="v", at_ms=0),
        Row(vertex="v", at_ms=1, values={Measure.LAG: 25}),
        Row(vertex="v", at_ms=2),
    )

    assert _kept(windows, "lag_records__first_ms") == [1]
    assert _kept(windows, "samples") == [3]
    assert _kept(windows, "last_at_ms") == [2]


def test_epochs_stay_apart() -> None:
    """Each counter epoch of each vertex of each job is one row, sorted by job, vertex and epoch."""
    windows = _reduce(
        Row(job="b/j", vertex="a", at_ms=0),
        Row(job="a/j", vertex="b", at_ms=2, epoch=1),
        Row(job="a/j", vertex="b", at_ms=1, epoch=0),
        Row(job="a/j", vertex="a", at_ms=3, epoch=7),
    )

    assert windows.job.tolist() == ["a/j", "a/j", "a/j", "b/j"]
    assert windows.vertex.tolist() == ["a", "b", "b", "a"]
    assert _kept(windows, "epoch") == [7, 0, 1, 0]


def test_the_columns_are_those_of_the_contract() -> None:
    """Both reducers yield the columns of `model.windows`, in that order, also of an empty window."""
    windows = _reduce()

    assert ("job", "vertex", *windows.columns) == COLUMNS
    assert all(len(column.values) == 0 for column in windows.columns.values())


def test_sums_are_exact() -> None:
    """Integers add up to the last digit where floating point would not."""
    rows = [Row(vertex="v", at_ms=i, values={Measure.OBSERVED_TPR: v}) for i, v in enumerate([1e11, 0.001, 0.001])]

    assert _kept(_reduce(*rows), "observed_tpr__sum") == [100_000_000_000_002]
    assert _reduce(*rows)["observed_tpr__sum"].values.dtype == np.int64
