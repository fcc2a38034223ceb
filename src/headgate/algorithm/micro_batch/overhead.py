"""What a micro-batch takes outside of its tasks, though queries that share executors wait for each other's tasks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headgate.algorithm.micro_batch.line import SURE
from headgate.algorithm.micro_batch.waves import wave_share
from headgate.algorithm.stats import Floats
from headgate.model.micro_batch import MicroBatch

RUNNING = "addBatch"
"""The phase in which tasks run; all others are the driver's own work."""
UNDISTURBED = 0.25
"""Share of the batches that find the cores free of other queries' tasks, or nearly."""
LOWEST = 0.1
"""Share of the batches below which lies what tells how much the lower quartile varies; the upper ones wait."""
TO_DEVIATION = 1.65
"""From the distance between these two quantiles to the standard deviation of normal noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number and half the width of its interval."""

    value: float
    error: float
    planning: float | None
    """The part of it that is the driver's own; None where the engine does not tell phases."""


def overhead(batches: Sequence[MicroBatch], weight: Floats) -> Estimate:
    """
    Estimate the milliseconds outside of tasks, from one batch at least.

    What is not the phase `addBatch` no other query can hold up: its median. What `addBatch` takes beyond its own tasks
    holds the waiting for other queries' tasks: its low end, of the batches that had to wait least.

    Args:
        batches: oldest first.
        weight: of each.
    """
    planning = np.array([_planning_ms(batch) for batch in batches])
    waiting = np.array([_whole_ms(batch) for batch in batches]) - planning - np.array([_tasks_ms(b) for b in batches])
    quiet, usual = _quantile(waiting, weight, UNDISTURBED), _quantile(planning, weight, 0.5)
    spreads = [_quantile(part, weight, UNDISTURBED) - _quantile(part, weight, LOWEST) for part in (waiting, planning)]
    count = weight.sum() ** 2 / float(weight @ weight)
    error = SURE * TO_DEVIATION * math.hypot(*spreads) / math.sqrt(count)
    told = any(RUNNING in batch.phases for batch in batches)
    return Estimate(value=max(0.0, usual + quiet), error=error, planning=usual if told else None)


def _whole_ms(batch: MicroBatch) -> float:
    return batch.duration.total_seconds() * 1000


def _planning_ms(batch: MicroBatch) -> float:
    """Give the driver's own part; 0 where the engine does not tell phases: then all of it counts as waiting."""
    if RUNNING not in batch.phases:
        return 0.0
    return max(0.0, _whole_ms(batch) - batch.phases[RUNNING].total_seconds() * 1000)


def _tasks_ms(batch: MicroBatch) -> float:
    """Give how long its tasks take on the cores that it had, nobody else's between them."""
    return sum(
        stage.task_time.total_seconds() * 1000 * float(wave_share(stage.tasks, batch.cores))
        for stage in batch.stages
        if stage.tasks
    )


def _quantile(values: Floats, weight: Floats, share: float) -> float:
    """Give the value below which so much of the weight lies, between its neighbours where it falls between them."""
    order = np.argsort(values)
    ranks = np.cumsum(weight[order]) - weight[order] / 2
    return float(np.interp(share * weight.sum(), ranks, values[order]))
