"""What was learnt of the costs of queries, from their latest sample into arrays, with the ends of its intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

import numpy as np

from headgate.algorithm.micro_batch.capacity import Costs, Pace
from headgate.algorithm.micro_batch.queries import Query, latest_of
from headgate.algorithm.micro_batch.waves import wave_share
from headgate.algorithm.rates import MILLIS
from headgate.algorithm.stats import Bools, Floats
from headgate.model.identity import VertexId
from headgate.model.measures import Measure
from headgate.model.samples import JobSample

MICROS_PER_MILLI = 1000.0
OVERRUN = 0.9
"""Share of its interval that a batch of no rows may take before the interval counts for less."""
RAMP = 1.0
"""Intervals that it takes longer until the interval counts for nothing: no decision hangs on a millisecond."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Learnt:
    """Costs and half the widths of their intervals; infinite or NaN where nothing is told apart yet."""

    costs: Costs
    row_error_ms: Floats
    """(s,)"""
    batch_error_ms: Floats
    """(q,)"""
    waited_ms: Floats
    """(q,) left out of `costs.batch_ms`, as it may be the waiting for other queries' tasks."""
    pivot_rows: Floats
    """(q,) rows of a usual batch: what its tasks take is known best."""

    @property
    def known(self) -> Bools:
        """Which of the (q,) queries have their costs told apart."""
        known = np.isfinite(self.costs.batch_ms + self.batch_error_ms)
        stage = np.isfinite(self.costs.row_ms + self.costs.task_ms + self.row_error_ms)
        np.logical_and.at(known, self.costs.query, stage)
        return known

    @property
    def filled(self) -> Learnt:
        """Without the unknown: what a query that had nothing to do would cost does not matter."""
        costs = self.costs
        known = self.known
        stage = known[costs.query]
        return Learnt(
            costs=replace(
                costs,
                batch_ms=np.where(known, costs.batch_ms, 0.0),
                task_ms=np.where(stage, costs.task_ms, 0.0),
                row_ms=np.where(stage, costs.row_ms, 0.0),
            ),
            row_error_ms=np.where(stage, self.row_error_ms, 0.0),
            batch_error_ms=np.where(known, self.batch_error_ms, 0.0),
            waited_ms=np.where(known, self.waited_ms, 0.0),
            pivot_rows=self.pivot_rows,
        )

    def cheap(self) -> Iterator[Costs]:
        """Give what batches may cost at least: whatever a row's share of it is, and the least outside of tasks."""
        return self._with(-self.batch_error_ms)

    def dear(self) -> Iterator[Costs]:
        """Give what batches may cost at most."""
        return self._with(self.batch_error_ms + self.waited_ms)

    def _with(self, error_ms: Floats) -> Iterator[Costs]:
        batch_ms = np.maximum(0.0, self.costs.batch_ms + error_ms)
        for sign in (-1, 0, 1):
            yield replace(self.costs.turned(sign * self.row_error_ms, self.pivot_rows), batch_ms=batch_ms)


def learnt(queries: Sequence[Query], samples: Sequence[JobSample], running: int) -> Learnt:
    """
    Read what was last told of each query's costs; what was not told is NaN.

    What a batch takes outside of its tasks may be the waiting for those of others, as far as these take on the running
    cores: then it is no cost that stays with more of them. The driver's own part of it is nobody's waiting.
    """
    stages = [(place, vertex.id) for place, query in enumerate(queries) for vertex in query.stages]

    def stage(measure: Measure, factor: float = 1.0) -> Floats:
        return np.array([_told(samples, vertex, measure) for _, vertex in stages]) * factor

    def first(measure: Measure) -> Floats:
        return np.array([_told(samples, query.stages[0].id, measure) for query in queries])

    pivot_rows = np.nan_to_num(first(Measure.BATCH_ROWS))
    costs = Costs(
        batch_ms=first(Measure.BATCH_OVERHEAD),
        query=np.array([place for place, _ in stages], dtype=np.int64),
        tasks=np.maximum(1, np.nan_to_num(stage(Measure.TASKS), nan=1.0)).astype(np.int64),
        task_ms=stage(Measure.TASK_OVERHEAD),
        row_ms=stage(Measure.ROW_COST, 1 / MICROS_PER_MILLI),
    )
    planning_ms = first(Measure.BATCH_PLANNING)
    own_ms = np.maximum(planning_ms, costs.batch_ms - _of_others(costs, pivot_rows, running))
    waited_ms = np.maximum(0.0, np.nan_to_num(costs.batch_ms - own_ms))
    return Learnt(
        costs=replace(costs, batch_ms=costs.batch_ms - waited_ms),
        row_error_ms=stage(Measure.ROW_COST_ERROR, 1 / MICROS_PER_MILLI),
        batch_error_ms=first(Measure.BATCH_OVERHEAD_ERROR),
        waited_ms=waited_ms,
        pivot_rows=pivot_rows,
    )


def _of_others(costs: Costs, rows: Floats, cores: int) -> Floats:
    """Give the (q,) time that one usual batch of each other query holds the cores."""
    stage_ms = (costs.task_ms + costs.row_ms * rows[costs.query]) * wave_share(costs.tasks, cores)
    own = np.bincount(costs.query, weights=np.nan_to_num(stage_ms), minlength=len(rows))
    others: Floats = own.sum() - own
    return others


def paces(queries: Sequence[Query], samples: Sequence[JobSample], least_ms: Floats, target: timedelta) -> Pace:
    """
    Read at what pace the batches of each query come.

    An interval so short that a batch of no rows nearly fills it is no bound: batches follow each other at once, and
    may take the more, up to the target duration as they do without any interval, the longer they must.

    Args:
        queries: of one application.
        samples: of its window, oldest first.
        least_ms: (q,) what a batch of no rows takes at least; NaN is unknown.
        target: what a batch without an interval may take.
    """
    interval = np.array([_told(samples, query.stages[0].id, Measure.BATCH_INTERVAL) for query in queries])
    target_ms = target.total_seconds() * MILLIS
    told = interval > 0
    over = np.nan_to_num(least_ms) / np.where(told, interval, 1.0) - OVERRUN
    share = np.clip(over / RAMP, 0.0, 1.0)
    period = interval + share * np.maximum(0.0, target_ms - interval)
    limit = np.array([_told(samples, query.stages[0].id, Measure.BATCH_LIMIT) for query in queries])
    return Pace(
        interval_ms=np.where(told, interval, 0.0),
        period_ms=np.where(told, period, target_ms),
        limit_rows=np.where(limit > 0, limit, np.inf),
    )


def _told(samples: Sequence[JobSample], vertex: VertexId, measure: Measure) -> float:
    return latest_of(vertex, samples).get(measure, math.nan)
