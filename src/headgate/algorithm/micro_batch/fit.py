"""What a micro-batch costs, learnt from the batches of a query as they come."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from headgate.algorithm.micro_batch.line import fitted
from headgate.algorithm.micro_batch.overhead import overhead
from headgate.model.micro_batch import MicroBatch

MEMORY = 120
"""Batches with rows, and as many without, that are remembered."""
HALF_LIFE = 30
"""Batches after which one counts half: costs drift with data, code and caches."""
LEAST = 5
"""Batches with rows from which costs count as told apart, as far as their intervals say."""
LATEST = 5
"""Batches that tell what is usual: how many rows one has, and into how many tasks it is cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageCost:
    """What one stage of a batch costs in task time."""

    tasks: int
    row_us: float
    """Of one row of the batch more, microseconds."""
    row_error_us: float
    """Half the width of its interval; infinite while nothing can be told."""
    overhead_ms: float
    """Of a batch however small, all tasks together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryCosts:
    """What a batch of a query costs: `T(n) = a + sum over its stages of (overhead + rows * row) * ceil(P/n) / P`."""

    overhead_ms: float
    """a: outside of tasks."""
    overhead_error_ms: float
    """Half the width of its interval; infinite while nothing can be told."""
    planning_ms: float | None
    """The part of a in which no task could run; None where the engine does not tell."""
    rows: float
    """Of a usual batch lately."""
    stages: tuple[StageCost, ...]
    batches: int
    """How many it was learnt from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostFit:
    """A running fit; a value, so that whoever holds one may go back to it."""

    batches: tuple[MicroBatch, ...] = ()
    """Those that count, oldest first."""

    def noting(self, batch: MicroBatch) -> Self:
        """Take a batch in; one that was warming says nothing."""
        if batch.warming:
            return self
        alike = [each for each in self.batches if bool(each.rows) == bool(batch.rows)]
        kept = self.batches
        if len(alike) >= MEMORY:
            kept = tuple(each for each in kept if each is not alike[0])
        return replace(self, batches=(*kept, batch))

    @property
    def costs(self) -> QueryCosts | None:
        """
        What is known by now; None before the first batch that counts.

        Empty batches tell of the overhead only: what there is to do for no rows is not cut into the usual tasks. What
        stages cost is learnt from batches of as many stages as the latest that had rows.
        """
        full = [batch for batch in self.batches if batch.rows > 0 and batch.stages]
        if not full:
            return None
        like = [batch for batch in full if len(batch.stages) == len(full[-1].stages)]
        outside = overhead(self.batches, _weights(len(self.batches)))
        return QueryCosts(
            overhead_ms=outside.value,
            overhead_error_ms=outside.error if len(full) >= LEAST else math.inf,
            planning_ms=outside.planning,
            rows=float(np.median([batch.rows for batch in like[-LATEST:]])),
            stages=tuple(_stage(like, index) for index in range(len(full[-1].stages))),
            batches=len(self.batches),
        )


def _stage(batches: list[MicroBatch], index: int) -> StageCost:
    """Learn what a stage costs, from its task times: they do not depend on the number of cores, or of tasks."""
    rows = np.array([float(batch.rows) for batch in batches])
    task_ms = np.array([batch.stages[index].task_time.total_seconds() * 1000 for batch in batches])
    line = fitted(rows, task_ms, _weights(len(batches)))
    return StageCost(
        tasks=_usual([batch.stages[index].tasks for batch in batches[-LATEST:]]),
        row_us=line.slope * 1000,
        row_error_us=line.slope_error * 1000 if len(batches) >= LEAST else math.inf,
        overhead_ms=line.intercept,
    )


def _usual(tasks: list[int]) -> int:
    """Give the upper one of the middle."""
    return sorted(tasks)[len(tasks) // 2]


def _weights(count: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Give the weights of batches, oldest first: the newest 1, each `HALF_LIFE` before it half as much."""
    return 0.5 ** (np.arange(count, dtype=np.float64)[::-1] / HALF_LIFE)
