"""What a vertex could do if it were always busy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from headgate.algorithm.batch import Batch
from headgate.algorithm.busy import busy_rate, busy_time, input_rate, true_processing_rate, true_rate
from headgate.algorithm.fleet import FleetJob, assemble
from headgate.algorithm.reduce import reduce_windows
from headgate.model.measures import Measure
from headgate.options.autoscaler import AutoscalerOptions, BusyTimeAggregator
from headgate.options.deviations import Parity
from headgate.testing.builders import ORDERS, chain
from headgate.testing.tables import Row, looked_at, table_of


def _batch(
    *values: Mapping[Measure, float],
    aggregator: BusyTimeAggregator = BusyTimeAggregator.MAX,
    parallelism: int = 1,
    parity: Parity = Parity.CURRENT,
) -> Batch:
    """Build a batch of one vertex, sampled every 10 seconds."""
    rows = [Row(vertex="v", at_ms=10_000 * i, values=known) for i, known in enumerate(values)]
    return _of(rows, aggregator=aggregator, parallelism=parallelism, parity=parity)


def _of(
    rows: Sequence[Row],
    *,
    aggregator: BusyTimeAggregator = BusyTimeAggregator.MAX,
    parallelism: int = 1,
    parity: Parity = Parity.CURRENT,
) -> Batch:
    options = AutoscalerOptions(busy_time_aggregator=aggregator, parity=parity)
    job = FleetJob(key=ORDERS, topology=chain({"v": parallelism}), options=options)
    return assemble([job], reduce_windows(table_of(rows)))


def test_busy_time_of_all_subtasks() -> None:
    """The counter sums over subtasks, so its rate is shared among them."""
    batch = _batch(
        {Measure.ACCUMULATED_BUSY_TIME: 0, Measure.LOAD: 0.9},
        {Measure.ACCUMULATED_BUSY_TIME: 8000, Measure.LOAD: 0.9},
        aggregator=BusyTimeAggregator.AVG,
        parallelism=2,
    )

    assert busy_time(batch)[0] == 400


def test_busy_time_of_the_hottest_subtask() -> None:
    """With MAX the sampled load counts where there is no counter."""
    batch = _batch({Measure.LOAD: 0.2}, {Measure.LOAD: 0.4}, parallelism=2)

    assert busy_time(batch)[0] == pytest.approx(300)


SPARSE_THEN_DENSE = ((10, 0.8),) * 6 + ((1, 0.2),) * 21
"""A minute under load, looked at each 10 s, and 21 s of little to do, looked at each second."""
DENSE_UNDER_LOAD = ((10, 0.2),) * 6 + ((1, 0.8),) * 162


@pytest.mark.parametrize(("spans", "true", "sampled"), [(SPARSE_THEN_DENSE, 2886, 5580), (DENSE_UNDER_LOAD, 491, 402)])
@pytest.mark.parametrize("aggregator", [BusyTimeAggregator.AVG, BusyTimeAggregator.MAX])
def test_rates_and_loads_are_weighted_alike(
    spans: tuple[tuple[int, float], ...], true: float, sampled: float, aggregator: BusyTimeAggregator
) -> None:
    """
    Samples of 10 s and of 1 s mix while something changes: a mean of samples does not fit a rate over time.

    Seen on Flink: 5,580/s and 402/s where the counters of the same samples say about 2,886/s and 491/s.
    """
    rows = looked_at("v", spans, true_rate=true, parallelism=4)

    by_time = true_processing_rate(_of(rows, aggregator=aggregator, parallelism=4))
    by_samples = true_processing_rate(_of(rows, parallelism=4, parity=Parity.REFERENCE))

    assert by_time[0] == pytest.approx(true)
    assert by_samples[0] == pytest.approx(sampled, abs=1)


def test_the_hottest_subtask_is_always_busy_at_most() -> None:
    """Where it was hot while nearly idle, and looked at often then, its share of a full load is not taken for more."""
    counted = {Measure.ACCUMULATED_BUSY_TIME: 0}
    batch = _batch(counted, {Measure.ACCUMULATED_BUSY_TIME: 8000, Measure.LOAD: 1.0, Measure.MEAN_LOAD: 0.5})

    assert busy_time(batch)[0] == 1000


def test_samples_without_an_average_are_averaged_themselves() -> None:
    """Those of a collector that tells none; also where only some lack it, as in a log that goes on after an update."""
    counted = {Measure.ACCUMULATED_BUSY_TIME: 0, Measure.LOAD: 0.2}
    batch = _batch(counted, {Measure.ACCUMULATED_BUSY_TIME: 8000, Measure.LOAD: 0.4, Measure.MEAN_LOAD: 0.4})

    assert busy_time(batch)[0] == pytest.approx(300)


def test_counters_come_before_the_gauge() -> None:
    """The gauge still shows the old load when the counters have seen the step; the reference would believe it."""
    begin = {Measure.NUM_RECORDS_IN: 0, Measure.NUM_RECORDS_IN_PER_SECOND: 100}
    end = {Measure.NUM_RECORDS_IN: 10_000, Measure.NUM_RECORDS_IN_PER_SECOND: 140}

    assert input_rate(_batch(begin, end))[0] == 1000
    assert input_rate(_batch(begin, end, parity=Parity.REFERENCE))[0] == 120


def test_the_gauge_stands_in_for_a_missing_counter() -> None:
    """Without a counter there is only the gauge."""
    batch = _batch({Measure.NUM_RECORDS_IN_PER_SECOND: 100}, {Measure.NUM_RECORDS_IN_PER_SECOND: 140})

    assert input_rate(batch)[0] == 120


@pytest.mark.parametrize(("read", "busy_ms", "rate"), [(100, 500, 200), (100, 0, math.inf), (0, 300, math.inf)])
def test_the_rate_extrapolates_busy_time(read: float, busy_ms: float, rate: float) -> None:
    """Half busy with 100/s means 200/s; who is never busy or reads nothing has no known end."""
    assert busy_rate(np.array([read]), np.array([busy_ms]))[0] == rate


@pytest.mark.parametrize(
    ("by_busy_time", "observed", "taken"),
    [
        (1000, math.nan, 1000),
        (1000, 900, 1000),
        (1000, 800, 800),
        (math.inf, 800, 800),
        (math.nan, 800, 800),
        (1000, math.inf, 1000),
        (math.nan, math.nan, math.nan),
    ],
)
def test_observation_wins_over_too_good_a_promise(by_busy_time: float, observed: float, taken: float) -> None:
    """Within 15 % busy time is believed; beyond, or without a number of its own, what was seen while behind counts."""
    rate = true_rate(np.array([by_busy_time]), np.array([observed]), np.array([0.15]))

    assert rate[0] == pytest.approx(taken, nan_ok=True)


def test_one_observation_is_not_enough() -> None:
    """A single observed rate is not taken before there are as many as the options ask for."""
    counted = {Measure.NUM_RECORDS_IN: 0, Measure.LOAD: 0.1}
    later = {Measure.NUM_RECORDS_IN: 1000, Measure.LOAD: 0.1}

    once = true_processing_rate(_batch(counted, {**later, Measure.OBSERVED_TPR: 500}))
    twice = true_processing_rate(_batch({**counted, Measure.OBSERVED_TPR: 500}, {**later, Measure.OBSERVED_TPR: 500}))

    assert (once[0], twice[0]) == (1000, 500)
