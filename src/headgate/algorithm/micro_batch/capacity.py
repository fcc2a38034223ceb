"""
What queries can do on n cores: a batch's time, the most rows that fit its period, how much of the cores all take.

Arrays of queries have shape (q,), of their stages (s,), of candidate numbers of cores (n,), of queries on them (q, n).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from headgate.algorithm.micro_batch.waves import wave_share
from headgate.algorithm.rates import MILLIS, ieee
from headgate.algorithm.stats import Floats, Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pace:
    """When batches of each query begin and how large they may be, (q,) arrays."""

    interval_ms: Floats
    """Between two triggers; 0 where one batch follows the other at once."""
    period_ms: Floats
    """What a batch may take: the interval, else the target duration."""
    limit_rows: Floats
    """Most rows of a batch; infinite without a limit."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Costs:
    """`T(n) = a + sum over stages of (w + b * rows) * ceil(P/n) / P` of each query."""

    batch_ms: Floats
    """(q,) a: outside of tasks."""
    query: Ints
    """(s,) which query a stage belongs to."""
    tasks: Ints
    """(s,) P."""
    task_ms: Floats
    """(s,) w: task time of a batch however small."""
    row_ms: Floats
    """(s,) b: task time of a row more."""

    def turned(self, error_ms: Floats, pivot_rows: Floats) -> Costs:
        """
        Give the costs with another cost per row that explain the batches seen as well.

        Args:
            error_ms: (s,) by how much a row costs more.
            pivot_rows: (q,) rows of a usual batch, whose task time stays.
        """
        steepest = self.row_ms + self.task_ms / np.maximum(pivot_rows[self.query], 1.0)
        row_ms = np.clip(self.row_ms + error_ms, 0.0, np.maximum(steepest, self.row_ms))
        task_ms = np.maximum(0.0, self.task_ms + (self.row_ms - row_ms) * pivot_rows[self.query])
        return replace(self, row_ms=row_ms, task_ms=task_ms)


def fixed_ms(costs: Costs, cores: Ints) -> Floats:
    """Give the (q, n) time of a batch of no rows."""
    return costs.batch_ms[:, None] + _by_query(costs, costs.task_ms, wave_share(costs.tasks[:, None], cores))


def per_row_ms(costs: Costs, cores: Ints) -> Floats:
    """Give the (q, n) time that a row more takes, all its stages together."""
    return _by_query(costs, costs.row_ms, wave_share(costs.tasks[:, None], cores))


@ieee
def capacity(costs: Costs, pace: Pace, cores: Ints) -> Floats:
    """
    Give the (q, n) rows/s of batches that just fill their period; infinite where rows cost nothing.

    A batch never takes more rows than its limit; where that ends it early, the next one waits for its trigger, or
    begins at once where there is none. Source: `T(n)` solved for rows; a query is alone on its cores here.
    """
    fixed, per_row = fixed_ms(costs, cores), per_row_ms(costs, cores)
    room = np.maximum(0.0, pace.period_ms[:, None] - fixed)
    fitting = np.where(room > 0, room / per_row, 0.0)
    rows = np.minimum(fitting, pace.limit_rows[:, None])
    lasts = np.maximum(np.where(np.isinf(rows), np.inf, fixed + per_row * rows), pace.interval_ms[:, None])
    return np.where(np.isinf(rows), np.inf, MILLIS * rows / lasts)


def occupancy(costs: Costs, pace: Pace, rates: Floats, cores: Ints) -> Floats:
    """
    Give the (n,) share of the cores' time that all queries take together; above 1 they keep each other waiting.

    On no more cores than tasks a stage holds all of them for its waves, the idle end of the last one included; beyond,
    the others have what it leaves.

    Args:
        costs: of the queries.
        pace: of their batches.
        rates: (q,) rows/s that each has to do.
        cores: candidates.
    """
    rows = rates * pace.period_ms / MILLIS
    held = np.where(cores <= costs.tasks[:, None], wave_share(costs.tasks[:, None], cores), 1 / cores)
    work_ms = costs.task_ms + costs.row_ms * rows[costs.query]
    shares: Floats = (held * (work_ms / pace.period_ms[costs.query])[:, None]).sum(axis=0)
    return shares


def _by_query(costs: Costs, of_stage: Floats, shares: Floats) -> Floats:
    """Add up what stages take, `of_stage` times their share on each number of cores."""
    total = np.zeros((len(costs.batch_ms), shares.shape[1]))
    np.add.at(total, costs.query, of_stage[:, None] * shares)
    return total
