"""The numpy reducer gives the same rows whatever order the samples come in."""

from __future__ import annotations

import math
import random

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from headgate.algorithm.columns import Table
from headgate.algorithm.reduce import reduce_windows
from headgate.model.measures import Measure
from headgate.model.windows import STATISTICS, column
from headgate.testing.tables import Row, table_of

values = st.dictionaries(
    st.sampled_from([Measure.NUM_RECORDS_IN, Measure.LAG, Measure.OBSERVED_TPR]),
    st.integers(-(10**9), 10**9).map(lambda n: n / 1000) | st.just(float("inf")),
)
rows = st.builds(
    Row,
    job=st.sampled_from(["a/x", "a/y", "b/x"]),
    vertex=st.sampled_from(["u", "v"]),
    at_ms=st.integers(0, 20),
    measured_ms=st.integers(0, 5),
    epoch=st.integers(0, 2),
    values=values,
)
windows = st.lists(rows, max_size=40, unique_by=lambda row: (row.job, row.vertex, row.at_ms))


def _content(table: Table) -> dict[str, tuple[bytes, bytes]]:
    """Give every byte that means something: what a null holds does not."""
    keys = {"job": (table.job.tobytes(), b""), "vertex": (table.vertex.tobytes(), b"")}
    columns = {
        name: (np.where(column.valid, column.values, 0).tobytes(), column.valid.tobytes())
        for name, column in table.columns.items()
    }
    return keys | columns


@given(window=windows, seed=st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(window: list[Row], seed: random.Random) -> None:
    """A log read from other files, or after compaction, reduces to the same bytes."""
    shuffled = seed.sample(window, len(window))

    assert _content(reduce_windows(table_of(shuffled))) == _content(reduce_windows(table_of(window)))


@given(window=windows)
def test_groups_are_those_of_a_plain_loop(window: list[Row]) -> None:
    """One row a (job, vertex, epoch), sorted, its statistics those that a person would count."""
    found = reduce_windows(table_of(window))

    groups = sorted({(row.job, row.vertex, row.epoch) for row in window})
    keys = list(zip(found.job.tolist(), found.vertex.tolist(), found["epoch"].values.tolist(), strict=True))
    assert keys == groups
    for place, group in enumerate(groups):
        members = sorted(
            (row for row in window if (row.job, row.vertex, row.epoch) == group), key=lambda row: row.at_ms
        )
        assert _kept(found, place, Measure.LAG) == _plain_trend(members)
        assert _kept(found, place, Measure.OBSERVED_TPR) == _plain_level(members)


def _kept(table: Table, place: int, measure: Measure) -> list[int | None]:
    columns = (table[column(measure, name)] for name in STATISTICS[measure])
    return [one.values[place].item() if one.valid[place] else None for one in columns]


def _plain_trend(members: list[Row]) -> list[int | None]:
    seen = [(row.measured_ms or 0, row.values[Measure.LAG]) for row in members if Measure.LAG in row.values]
    finite = [(time, round(value * 1000)) for time, value in seen if value != math.inf]
    if not finite:
        return [None, None, None, None, 0]
    times = [time for time, _ in finite]
    return [finite[0][1], min(times), finite[-1][1], max(times), len(finite)]


def _plain_level(members: list[Row]) -> list[int | None]:
    seen = [row.values[Measure.OBSERVED_TPR] for row in members if Measure.OBSERVED_TPR in row.values]
    finite = [round(value * 1000) for value in seen if value != math.inf]
    return [sum(finite) if finite else None, len(finite), len(finite) < len(seen)]
