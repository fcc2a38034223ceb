"""What is read off one run of the comparison on Spark: pure functions of its batches and of the cores it had."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Any, Self

import numpy as np

from benchmarks.spark_load import Load
from benchmarks.spark_policies_setting import INTERVAL_S

SETTLING_S = 90.0
"""After a step: how long a batch may take longer, and the bound by when the backlog must have drained."""
LATE_S = 2 * INTERVAL_S
"""Rows that came longer ago than this and still wait at the end of a batch are a backlog: the next one is too late."""
_CALM_S = 20.0
"""So long without a backlog it has drained."""
_ONE_CHANGE_S = 5.0
"""Changes in one direction that follow each other so soon are one."""


@dataclass(frozen=True, slots=True)
class Batch:
    """One micro-batch; times are seconds since the load began."""

    at_s: float
    """When it was triggered."""
    took_s: float
    """From trigger to commit."""
    rows: int
    position: int
    """Rows of the load that are committed with it."""

    @property
    def end_s(self) -> float:
        """When it was committed."""
        return self.at_s + self.took_s


@dataclass(frozen=True, slots=True)
class Cores:
    """What the application had from one instant on."""

    at_s: float
    paid: int
    """Of executors that run or start, as the master counts them."""
    usable: int
    """Of executors that the driver knows."""
    failed_tasks: int

    def until(self, at_s: float) -> Self:
        """Give the same at a later instant."""
        return replace(self, at_s=at_s)


@dataclass(frozen=True, kw_only=True)
class Run:
    """One policy under one load."""

    arm: str
    load: Load
    batches: Sequence[Batch]
    """Of the load's time."""
    cores: Sequence[Cores]
    """From the load's beginning on, each holds until the next."""

    @classmethod
    def told(cls, raw: dict[str, Any]) -> Self:
        """Read what a run wrote."""
        load = Load(**raw["load"])
        batches = [batch for row in raw["batches"] if 0 <= (batch := Batch(*row)).at_s < load.duration_s]
        cores = [each for row in raw["cores"] if (each := Cores(*row)).at_s < load.duration_s]
        return cls(arm=raw["arm"], load=load, batches=batches, cores=cores)


def duration_s(run: Run, percent: float) -> float:
    """Give a percentile of the batch durations."""
    return float(np.percentile([batch.took_s for batch in run.batches], percent))


def settled_p95_s(run: Run) -> float:
    """Give the 95th percentile of the durations of batches that were not triggered soon after a step."""
    return float(np.percentile([batch.took_s for batch in run.batches if not _soon_after_step(run, batch)], 95))


def most_lag_rows(run: Run) -> float:
    """Give the most rows that waited at the end of a batch."""
    return max(run.load.offered(batch.end_s) - batch.position for batch in run.batches)


def longest_delay_s(run: Run) -> float:
    """Give the longest that a row waited from its arrival until it was committed."""
    return max(batch.end_s - run.load.arrival_s(before.position) for before, batch in pairwise(run.batches))


def drained_s(run: Run) -> float:
    """Give how long after a step its backlog was gone, the worse of both; 0 where none came up."""
    return max(_drained_s(run, step) for step in run.load.steps)


def _drained_s(run: Run, step_s: float) -> float:
    gone_s = step_s
    for batch in run.batches:
        late = batch.end_s - run.load.arrival_s(batch.position) > LATE_S
        if batch.end_s > max(gone_s + _CALM_S, step_s + SETTLING_S):
            break
        if batch.end_s >= step_s and late:
            gone_s = batch.end_s
    return _next_end_s(run, gone_s) - step_s if gone_s > step_s else 0.0


def _next_end_s(run: Run, after_s: float) -> float:
    return next((batch.end_s for batch in run.batches if batch.end_s > after_s), float(run.load.duration_s))


def core_s(run: Run) -> float:
    """Give the core-seconds that were paid."""
    return sum(cores.paid * lasts_s for cores, lasts_s in _lasting(run))


def changes(run: Run) -> int:
    """Count the changes of how many cores are paid."""
    moves = [(later.at_s, later.paid > one.paid) for one, later in pairwise(run.cores) if later.paid != one.paid]
    followed = (at_s - before_s < _ONE_CHANGE_S and up == was for (before_s, was), (at_s, up) in pairwise(moves))
    return len(moves) - sum(followed)


def failed_tasks(run: Run) -> int:
    """Count the task attempts that failed."""
    return run.cores[-1].failed_tasks - run.cores[0].failed_tasks


def start_ups_s(run: Run) -> list[float]:
    """Give how long executors took, each time that more were had, from being paid until the driver knew them."""
    grown = [later for one, later in pairwise(run.cores) if later.paid > max(one.paid, later.usable)]
    known = ((asked, _known_s(run, asked)) for asked in grown)
    return [at_s - asked.at_s for asked, at_s in known if at_s is not None]


def _known_s(run: Run, asked: Cores) -> float | None:
    later = (cores for cores in run.cores if cores.at_s > asked.at_s)
    return next((cores.at_s for cores in later if cores.usable >= asked.paid), None)


def start_up_s(runs: Sequence[Run]) -> float:
    """Give the median time that executors took to start, of all runs together."""
    return median(took for run in runs for took in start_ups_s(run))


def _soon_after_step(run: Run, batch: Batch) -> bool:
    return any(step <= batch.at_s < step + SETTLING_S for step in run.load.steps)


def _lasting(run: Run) -> Iterator[tuple[Cores, float]]:
    ends = [later.at_s for later in run.cores[1:]] + [float(run.load.duration_s)]
    for cores, end_s in zip(run.cores, ends, strict=True):
        yield cores, max(0.0, min(end_s, run.load.duration_s) - max(0.0, cores.at_s))
