"""How often a vertex is looked at changes nothing about what it could do."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from headgate.algorithm.busy import true_processing_rate
from headgate.algorithm.fleet import FleetJob, assemble
from headgate.algorithm.reduce import reduce_windows
from headgate.options.autoscaler import AutoscalerOptions, BusyTimeAggregator
from headgate.testing.builders import ORDERS, chain
from headgate.testing.tables import looked_at, table_of

spans = st.lists(
    st.tuples(st.sampled_from([1, 2, 5, 10, 30]), st.integers(1, 10).map(lambda twentieths: twentieths / 20)),
    min_size=1,
    max_size=40,
)
"""Seconds between two samples, and how busy the average subtask was: up to a half, so that one may be twice as busy."""


@pytest.mark.parametrize(
    ("aggregator", "skew"),
    [
        (BusyTimeAggregator.AVG, 1.0),
        (BusyTimeAggregator.MAX, 1.0),
        (BusyTimeAggregator.MAX, 2.0),
        (BusyTimeAggregator.MIN, 0.5),
    ],
)
@given(spans=spans, true_rate=st.integers(1, 10**6), parallelism=st.integers(1, 9))
def test_the_true_rate_is_the_same_at_any_cadence(
    aggregator: BusyTimeAggregator, skew: float, spans: list[tuple[int, float]], true_rate: int, parallelism: int
) -> None:
    """Also where the load changes from sample to sample: of the average, the hottest and the coldest subtask."""
    rows = looked_at("v", spans, true_rate=true_rate, parallelism=parallelism, skew=skew)
    options = AutoscalerOptions(busy_time_aggregator=aggregator)
    job = FleetJob(key=ORDERS, topology=chain({"v": parallelism}), options=options)

    found = true_processing_rate(assemble([job], reduce_windows(table_of(rows))))

    assert found[0] == pytest.approx(true_rate / skew, rel=1e-6)
