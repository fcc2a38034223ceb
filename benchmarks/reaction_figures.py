"""What is read off the runs of the comparison of reactions: pure functions of its rows."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Self

import numpy as np

from benchmarks.reaction_loads import Course
from benchmarks.reaction_results import Row
from benchmarks.reaction_run import FAST, POLICIES, WINDOWS

ALIKE = 0.05
"""Worker-seconds that differ by no more, as a share of the smaller, are equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Runs of the same jobs, under `fast` and under a window."""

    fast: Sequence[Row]
    other: Sequence[Row]

    @property
    def ratio(self) -> float:
        """Give the median of the lag-seconds of `fast`, as a share of that of the other; NaN where neither has any."""
        ours, theirs = (median_lag_s(rows) if rows else math.nan for rows in (self.fast, self.other))
        return ours / theirs if theirs else math.nan

    @property
    def worker_ratio(self) -> float:
        """Give the worker-seconds of `fast`, on average as a share of the least, as a share of those of the other."""
        return mean_share(self.fast) / mean_share(self.other)

    @property
    def takes_as_many(self) -> bool:
        """Tell whether both took as many worker-seconds."""
        return is_alike(mean_share(self.fast), mean_share(self.other))

    @property
    def typical_ratio(self) -> float:
        """
        Give the median of the ratios of all jobs; NaN without any.

        To each a second is added, so that two that never waited are alike.
        """
        ratios = [(ours.lag_s + 1) / (theirs.lag_s + 1) for ours, theirs in zip(self.fast, self.other, strict=True)]
        return median(ratios) if ratios else math.nan


@dataclass(frozen=True, slots=True)
class Compared:
    """All policies, by job and policy; jobs for which one of them was not measured are left out."""

    jobs: Mapping[int, Mapping[str, Row]]

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Self:
        """Sort rows by their jobs."""
        found: dict[int, dict[str, Row]] = defaultdict(dict)
        for row in rows:
            found[row.job][row.policy] = row
        return cls({job: found[job] for job in sorted(found) if {*POLICIES} <= {*found[job]}})

    def under(self, policy: str) -> list[Row]:
        """Give the runs of one policy."""
        return [runs[policy] for runs in self.jobs.values()]

    def where(self, holds: Callable[[Row], bool]) -> Compared:
        """Keep the jobs of some kind."""
        return Compared({job: runs for job, runs in self.jobs.items() if holds(runs[FAST])})

    def beside(self, window: str) -> Pairs:
        """Give all jobs under `fast` and under a window."""
        return Pairs(fast=self.under(FAST), other=self.under(window))

    def at_equal_workers(self, window: str) -> Pairs:
        """Give the jobs that took as many worker-seconds with `fast` as with a window, and whose load changes."""
        changing = self.where(lambda row: row.course != Course.CONSTANT).jobs.values()
        pairs = [
            (runs[FAST], runs[window]) for runs in changing if is_alike(runs[FAST].worker_s, runs[window].worker_s)
        ]
        return Pairs(fast=[fast for fast, _ in pairs], other=[other for _, other in pairs])

    def against_the_best(self) -> Pairs:
        """
        Give each job whose load changes, with the window of least lag-seconds of those that took no more workers.

        Nobody knows beforehand which one that is.
        """
        changing = self.where(lambda row: row.course != Course.CONSTANT).jobs.values()
        pairs = [(runs[FAST], best) for runs in changing for best in _best(runs)]
        return Pairs(fast=[fast for fast, _ in pairs], other=[other for _, other in pairs])

    def dominated(self, window: str) -> int:
        """Count the jobs in which a window is no worse than `fast` in any of the three, and better in one."""
        return sum(dominates(_three(runs[window]), _three(runs[FAST])) for runs in self.jobs.values())

    def dominates(self, window: str) -> int:
        """Count the jobs in which it is the other way round."""
        return sum(dominates(_three(runs[FAST]), _three(runs[window])) for runs in self.jobs.values())

    def is_dominated(self, window: str) -> bool:
        """Tell whether a window is no worse than `fast` in any of the three taken over all jobs, and better in one."""
        theirs, ours = (overall(self.under(policy)) for policy in (window, FAST))
        return dominates(theirs, ours)

    def worst(self, by: Callable[[Row], float], count: int) -> list[Mapping[str, Row]]:
        """Give the jobs in which `fast` is worst beside the best window, by a number."""
        behind = {job: by(runs[FAST]) - min(by(runs[window]) for window in WINDOWS) for job, runs in self.jobs.items()}
        first = sorted((job for job in behind if behind[job] > 0), key=lambda job: (-behind[job], job))[:count]
        return [self.jobs[job] for job in first]


def median_lag_s(rows: Sequence[Row]) -> float:
    """Give the median of the lag-seconds."""
    return median(row.lag_s for row in rows)


def percentile_lag_s(rows: Sequence[Row], percent: float) -> float:
    """Give a percentile of the lag-seconds."""
    return float(np.percentile([row.lag_s for row in rows], percent))


def mean_share(rows: Sequence[Row]) -> float:
    """Give the worker-seconds as a share of the least, on average over the jobs."""
    return fmean(row.share for row in rows)


def rescales(rows: Sequence[Row]) -> int:
    """Count the rescales of all jobs."""
    return sum(row.rescales for row in rows)


def turns(rows: Sequence[Row]) -> int:
    """Count how often a vertex turned its direction."""
    return sum(row.turns for row in rows)


def overall(rows: Sequence[Row]) -> tuple[float, float, float]:
    """Give the three numbers that are compared, over all jobs; the less of each the better."""
    return median_lag_s(rows), mean_share(rows), rescales(rows)


def dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    """Tell whether nothing of one is larger, and something smaller."""
    return all(mine <= theirs for mine, theirs in zip(one, other, strict=True)) and tuple(one) != tuple(other)


def _three(row: Row) -> tuple[float, float, float]:
    return row.lag_s, row.worker_s, row.rescales


def is_alike(one: float, other: float) -> bool:
    """Tell whether worker-seconds are equal, as far as that counts."""
    return abs(one - other) <= ALIKE * min(one, other)


def _best(runs: Mapping[str, Row]) -> Iterator[Row]:
    """Give the window with the least lag-seconds of those that took no more workers, if there is one."""
    most_s = runs[FAST].worker_s * (1 + ALIKE)
    cheap = [runs[window] for window in WINDOWS if runs[window].worker_s <= most_s]
    yield from sorted(cheap, key=lambda row: row.lag_s)[:1]
