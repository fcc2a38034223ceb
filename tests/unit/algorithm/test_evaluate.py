"""Whole evaluations, as a person would check them with pencil and paper."""

from __future__ import annotations

import math

import numpy as np

from headgate.algorithm.batch import Evaluation
from headgate.algorithm.evaluate import evaluate
from headgate.algorithm.fleet import FleetJob, assemble
from headgate.algorithm.reduce import reduce_windows
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Parity
from headgate.testing.builders import ORDERS, chain
from headgate.testing.tables import Row, steady, table_of


def _evaluate(rows: list[Row], *names: str, parity: Parity = Parity.CURRENT) -> Evaluation:
    job = FleetJob(key=ORDERS, topology=chain(dict.fromkeys(names, 1)), options=AutoscalerOptions(parity=parity))
    return evaluate(assemble([job], reduce_windows(table_of(rows))))


def test_a_slow_aggregation_behind_full_buffers() -> None:
    """It reads 660/s at full busyness while 1600/s are sent and nothing lags: it needs 3.87 times its parallelism."""
    rows = steady("in", read=1600, written=1600, busy=0.4) + steady("agg", read=660, busy=1.0)

    found = _evaluate(rows, "in", "agg")

    assert found.true_processing_rate.tolist() == [4000, 660]
    assert found.target_data_rate.tolist() == [1600, 1600]
    assert found.needed_capacity.tolist() == [2552.381, 2552.381]
    assert found.factor[1] == 3.8672
    assert found.outside.tolist() == [False, True]


def test_the_reference_would_not_see_it() -> None:
    """By what the aggregation reads it keeps up, and only its missing head room shows."""
    rows = steady("in", read=1600, written=1600, busy=0.4) + steady("agg", read=660, busy=1.0)

    assert _evaluate(rows, "in", "agg", parity=Parity.REFERENCE).target_data_rate[1] == 660


def test_an_idle_job_needs_nothing() -> None:
    """Nothing comes in: the true rate is infinite, the factor 0, and there is no backlog."""
    found = _evaluate(steady("in", read=0, busy=0.0, lag=(0, 0)), "in")

    assert (found.true_processing_rate[0], found.factor[0], bool(found.backlog[0])) == (math.inf, 0, False)
    assert found.outside[0]


def test_a_missing_lag_is_not_zero_lag() -> None:
    """It counts as none in the demand, but is not shown as a number nobody measured."""
    assert math.isnan(_evaluate(steady("in", read=10), "in").lag[0])
    assert _evaluate(steady("in", read=10, lag=(3, 4)), "in").lag[0] == 4


def test_nothing_measured_gives_nothing() -> None:
    """Without samples every number is NaN and nothing is outside."""
    found = _evaluate([], "in", "out")

    numbers = (found.load, found.true_processing_rate, found.target_data_rate, found.needed_capacity, found.factor)
    assert all(np.isnan(values).all() for values in numbers)
    assert not found.outside.any()


def test_no_jobs_no_numbers() -> None:
    """An empty batch is evaluated to empty arrays."""
    assert evaluate(assemble([], reduce_windows(table_of([])))).factor.shape == (0,)
