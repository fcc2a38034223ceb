"""What comes to a query, told by its counter and its lag."""

from __future__ import annotations

import math

import pytest

from headgate.algorithm.micro_batch.arrivals import arrival_rate
from headgate.model.measures import Measure
from headgate.model.samples import VertexSample
from headgate.testing.builders import at


def seen(second: float, rows: float, *, lag: float = 0.0, epoch: int = 0) -> VertexSample:
    """Measure a query with a trigger every two seconds."""
    values = {Measure.NUM_RECORDS_IN: rows, Measure.LAG: lag, Measure.BATCH_INTERVAL: 2000.0}
    return VertexSample(measured_at=at(second), epoch=epoch, values=values)


def test_what_waits_counts_as_come() -> None:
    """Of 200 rows in two seconds half were read."""
    assert arrival_rate([seen(0, 0), seen(2, 100, lag=100)]) == 100


def test_across_epochs_neither_rows_nor_lag_count() -> None:
    """A restart that finds a million rows has not seen them come."""
    measured = [seen(0, 0), seen(2, 100), seen(60, 200, lag=1e6, epoch=1), seen(62, 300, lag=1e6, epoch=1)]
    assert arrival_rate(measured) == pytest.approx(50)


def test_an_instant_tells_no_rate() -> None:
    """An idle query was measured just before its next trigger."""
    assert math.isnan(arrival_rate([seen(1.999, 0), seen(2, 100)]))


def test_measurements_of_different_epochs_tell_no_rate() -> None:
    """Nothing is known of what came; a rate of 0 would take its executors from the query."""
    apart = [
        VertexSample(measured_at=at(second), epoch=epoch, values={Measure.NUM_RECORDS_IN: 100.0, Measure.LAG: 0.0})
        for epoch, second in enumerate((0, 2, 4))
    ]
    assert math.isnan(arrival_rate(apart))


def test_what_a_batch_announced_gives_way_to_what_it_read() -> None:
    """It is told of twice for one trigger, with a few rows fewer at its end: no reset, and no rows counted twice."""
    measured = [seen(0, 0), seen(2, 105), seen(2, 100), seen(4, 205), seen(4, 200)]
    assert arrival_rate(measured) == pytest.approx(50)
