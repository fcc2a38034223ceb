"""Gauges and counts by the reference autoscaler's rules."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from headgate.engines.flink.gauges import (
    Aggregate,
    lag_of,
    load_of,
    merge,
    observed_of,
    read_aggregates,
    records_read,
)
from headgate.engines.flink.names import FlinkMetric, choose_names
from headgate.errors import UnreachableError
from headgate.model.identity import VertexId
from headgate.model.measures import Measure
from headgate.options.autoscaler import BusyTimeAggregator
from headgate.options.deviations import Parity
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import FakeJob
from headgate.testing.watch import FlinkWatch

SOURCE, WORK = VertexId("s" * 32), VertexId("w" * 32)
IN, OUT = FlinkMetric.SOURCE_TASK_NUM_RECORDS_IN, FlinkMetric.SOURCE_TASK_NUM_RECORDS_OUT


def test_recorded_aggregates(recorded: Callable[[str], Any]) -> None:
    """Of a source that reads 785 records/s and is busy 14 ms a second."""
    names = choose_names(entry["id"] for entry in recorded("source_aggregates"))
    gauges = merge(read_aggregates(recorded("source_aggregates")), names.selected)
    assert load_of(gauges, BusyTimeAggregator.MAX) == 0.014
    assert lag_of(gauges) == 0
    assert records_read(0.0, gauges) == 63_948


@pytest.mark.parametrize(
    ("aggregator", "load"),
    [(BusyTimeAggregator.MIN, 0.1), (BusyTimeAggregator.AVG, 0.15), (BusyTimeAggregator.MAX, 0.2)],
)
def test_load_is_the_configured_aggregate(aggregator: BusyTimeAggregator, load: float) -> None:
    """In shares of a second."""
    busy = {FlinkMetric.BUSY_TIME_PER_SEC: Aggregate(min=100, avg=150, max=200)}
    assert load_of(busy, aggregator) == pytest.approx(load)


def test_load_of_a_legacy_source_is_unknown_and_never_negative() -> None:
    """Flink writes NaN where it has no busy time, and at times a little less than nothing."""
    legacy = read_aggregates([{"id": "busyTimeMsPerSecond", "max": "NaN", "sum": "NaN"}])
    below = {FlinkMetric.BUSY_TIME_PER_SEC: Aggregate(max=-5)}
    assert math.isnan(load_of({FlinkMetric.BUSY_TIME_PER_SEC: legacy["busyTimeMsPerSecond"]}, BusyTimeAggregator.MAX))
    assert load_of(below, BusyTimeAggregator.MAX) == 0


def test_a_source_counts_where_its_connector_does() -> None:
    """Its task first, then its operator's input, then its operator's output; nothing at all is unknown."""
    counted = {IN: Aggregate(sum=0), OUT: Aggregate(sum=88)}
    assert records_read(5, counted) == 5
    assert records_read(0, counted) == 88
    assert records_read(0, {}) == 0
    assert records_read(-3, {}) == 0
    assert math.isnan(records_read(math.nan, {}))


def test_two_lags_of_a_chain_are_one() -> None:
    """Sums add up, extremes stay extremes, nobody knows the average; what is unknown is skipped."""
    selected = dict.fromkeys(("a.pendingRecords", "b.pendingRecords", "c.pendingRecords"), FlinkMetric.PENDING_RECORDS)
    answer = {
        "a.pendingRecords": Aggregate(min=1, max=4, avg=2, sum=6),
        "b.pendingRecords": Aggregate(min=3, max=3, avg=3, sum=9),
        "c.pendingRecords": Aggregate(),
    }
    merged = merge(answer, selected)[FlinkMetric.PENDING_RECORDS]
    assert (merged.min, merged.max, merged.sum) == (1, 4, 15)
    assert math.isnan(merged.avg)


def test_the_output_gauge_stands_in_for_an_input_gauge_of_zero() -> None:
    """Some connectors count no input; an unknown rate observes nothing."""
    gauges = {
        FlinkMetric.SOURCE_TASK_NUM_RECORDS_IN_PER_SEC: Aggregate(sum=0),
        FlinkMetric.SOURCE_TASK_NUM_RECORDS_OUT_PER_SEC: Aggregate(sum=900),
        FlinkMetric.BACKPRESSURE_TIME_PER_SEC: Aggregate(avg=100),
        FlinkMetric.PENDING_RECORDS: Aggregate(sum=1e6),
    }
    assert observed_of(gauges, 30, math.nan) == pytest.approx(1_000)
    assert math.isnan(observed_of({}, 30, 123.0))


@pytest.fixture
def reference(watch: FlinkWatch) -> FlinkWatch:
    """Give what takes samples by the reference's rules."""
    watch.parity = Parity.REFERENCE
    watch.aggregator = BusyTimeAggregator.MAX
    return watch


async def test_by_parity_loads_and_rates_are_the_engines_gauges(
    reference: FlinkWatch, server: FakeFlink, job: FakeJob
) -> None:
    """The hottest subtask by its counters is at 90 %, Flink's gauge says 60 %; no subtask is asked by itself."""
    job["work"].skew = (1.5, 0.5)
    values = (await reference.sample()).vertices[WORK].values
    assert values[Measure.LOAD] == pytest.approx(0.6)
    assert values[Measure.NUM_RECORDS_IN_PER_SECOND] == pytest.approx(600)
    assert server.asked(f"{WORK}/metrics") == 0


async def test_by_parity_a_source_observes_at_its_first_sample(reference: FlinkWatch, job: FakeJob) -> None:
    """1,000 records/s while nine tenths of its time are lost to back-pressure; it has no rate gauge of its own."""
    job.pending = 200_000
    values = (await reference.sample()).vertices[SOURCE].values
    assert values[Measure.OBSERVED_TPR] == pytest.approx(10_000)
    assert values[Measure.LOAD] == pytest.approx(0.1)
    assert Measure.NUM_RECORDS_IN_PER_SECOND not in values


async def test_by_parity_a_lag_that_nobody_tells_is_none(reference: FlinkWatch, job: FakeJob) -> None:
    """And an idle source could then do anything."""
    job["Source: source"].has_lag = False
    job.rate = 0
    values = (await reference.sample()).vertices[SOURCE].values
    assert (values[Measure.LAG], values[Measure.OBSERVED_TPR]) == (0, math.inf)


async def test_by_parity_a_source_without_a_required_metric_is_an_error(reference: FlinkWatch, job: FakeJob) -> None:
    """A source that is none by name has no metric that begins as it must; by our own rules it is sampled."""
    job["Source: source"].metric_prefix = "Legacy__"
    with pytest.raises(UnreachableError, match="SOURCE_TASK_NUM_RECORDS_IN"):
        await reference.sample()
    reference.parity = Parity.CURRENT
    assert SOURCE in (await reference.sample()).vertices
