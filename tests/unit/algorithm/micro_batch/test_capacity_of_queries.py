"""What queries can do on n cores, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from headgate.algorithm.micro_batch.capacity import Costs, Pace, capacity, occupancy
from headgate.algorithm.micro_batch.waves import fewest_cores, wave_share, waves

CORES = np.arange(1, 10)


def costs(*, batch_ms: float = 400.0, task_ms: float = 0.0, row_ms: float = 4.0, tasks: int = 8) -> Costs:
    """Give those of one query of one stage."""
    return Costs(
        batch_ms=np.array([batch_ms]),
        query=np.array([0]),
        tasks=np.array([tasks]),
        task_ms=np.array([task_ms]),
        row_ms=np.array([row_ms]),
    )


def pace(*, interval_s: float = 2.0, period_s: float | None = None, limit: float = math.inf) -> Pace:
    """Give that of one query; without an interval a period must be told."""
    period = interval_s if period_s is None else period_s
    return Pace(
        interval_ms=np.array([1000 * interval_s]), period_ms=np.array([1000 * period]), limit_rows=np.array([limit])
    )


def test_waves_are_what_the_step_test_showed() -> None:
    """8 tasks on 1 to 9 cores."""
    assert waves(8, CORES).tolist() == [8, 4, 3, 2, 2, 2, 2, 1, 1]
    assert wave_share(8, CORES)[3] == 0.25


@pytest.mark.parametrize(("cores", "fewest"), [(1, 1), (3, 3), (5, 4), (7, 4), (8, 8), (20, 8)])
def test_the_fewest_cores_with_as_few_waves(cores: int, fewest: int) -> None:
    """Of 8 tasks: 4 cores take two waves as 7 do."""
    assert fewest_cores(8, cores) == fewest


def test_capacity_is_what_fills_the_period() -> None:
    """1600 ms are left for rows of 4 ms: 400 rows every 2 s on one core, and more by fewer waves only."""
    assert capacity(costs(), pace(), CORES)[0].tolist() == pytest.approx(
        [200, 400, 1600 / 3, 800, 800, 800, 800, 1600, 1600]
    )


def test_a_batch_takes_no_more_than_its_limit() -> None:
    """1000 rows every 2 s are 500/s on however many cores."""
    assert capacity(costs(), pace(limit=1000.0), CORES)[0, 2:].tolist() == [500.0] * 7


def test_without_an_interval_a_limited_batch_is_followed_at_once() -> None:
    """100 rows take 400 + 400 ms on one core: 125/s, though ten seconds were allowed."""
    assert capacity(costs(), pace(interval_s=0.0, period_s=10.0, limit=100.0), CORES)[0, 0] == pytest.approx(125)


def test_rows_that_cost_nothing_have_no_end() -> None:
    """And a batch whose overhead fills its period does nothing."""
    assert capacity(costs(row_ms=0.0), pace(), CORES)[0, 0] == math.inf
    assert capacity(costs(batch_ms=2500.0), pace(), CORES)[0].tolist() == [0.0] * 9


def test_two_queries_share_the_cores_by_what_their_waves_take() -> None:
    """Each takes 1200 ms of task time every 2 s: too much for one core, enough for two; the other has spare cores."""
    two = Costs(
        batch_ms=np.zeros(2),
        query=np.array([0, 1]),
        tasks=np.array([4, 4]),
        task_ms=np.zeros(2),
        row_ms=np.array([4.0, 4.0]),
    )
    both = Pace(interval_ms=np.full(2, 2000.0), period_ms=np.full(2, 2000.0), limit_rows=np.full(2, math.inf))
    taken = occupancy(two, both, np.array([150.0, 150.0]), CORES)
    assert taken[[0, 1, 3]].tolist() == pytest.approx([1.2, 0.6, 0.3])
    assert taken[7] == pytest.approx(0.15)


def test_another_cost_per_row_explains_a_usual_batch_as_well() -> None:
    """The line turns round the batches that were seen, and neither cost falls below zero."""
    known = costs(task_ms=400.0, row_ms=4.0)
    for error in (-9.0, -1.0, 0.5, 9.0):
        turned = known.turned(np.array([error]), np.array([100.0]))
        assert turned.task_ms[0] + 100 * turned.row_ms[0] == pytest.approx(800)
        assert turned.task_ms[0] >= 0
        assert turned.row_ms[0] >= 0
