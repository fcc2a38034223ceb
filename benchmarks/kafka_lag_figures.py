"""What one run comes to."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.kafka_lag_setting import COURSE, SeededLoad


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What Flink and the topic told at one time."""

    at_s: float
    parallelism: int
    runs: bool
    lag: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One seed by one way."""

    load: SeededLoad
    looks: Sequence[Look]

    @classmethod
    def of(cls, seed: int, looks: Sequence[Sequence[float]]) -> Run:
        """Read what was kept."""
        told = [Look(at_s=at, parallelism=int(size), runs=bool(runs), lag=lag) for at, size, runs, lag in looks]
        return cls(load=SeededLoad.of(seed), looks=told)

    @property
    def enough_after_s(self) -> float | None:
        """Seconds from the step up until so many subtasks ran that they could do what came in; None: never."""
        step_s = self.load.phase_s
        wanted = self.load.enough(step_s)
        found = (each.at_s for each in self._high if each.runs and each.parallelism >= wanted)
        return next((at_s - step_s for at_s in found), None)

    @property
    def most_lag(self) -> float:
        """The most records that waited after the step up, before the broker went away."""
        return max(each.lag for each in self._high if each.at_s < COURSE.away_at_s)

    @property
    def rescales(self) -> int:
        """How often the running parallelism changed."""
        return sum(one.parallelism != other.parallelism for one, other in itertools.pairwise(self.looks))

    @property
    def wrong_shrinks(self) -> int:
        """How often it fell below what could do the load, while records waited or came in."""
        pairs = itertools.pairwise(self.looks)
        return sum(
            later.parallelism < one.parallelism and later.parallelism < self.load.enough(later.at_s)
            for one, later in pairs
        )

    @property
    def needless_growths(self) -> int:
        """How often it grew although it could do the load already at its target."""
        pairs = itertools.pairwise(self.looks)
        return sum(
            later.parallelism > one.parallelism and one.parallelism >= self.load.sized(later.at_s)
            for one, later in pairs
        )

    @property
    def down_after_s(self) -> float | None:
        """Seconds from the step down until no more ran than the load needs; None: not within the run."""
        step_s = self.load.phase_s + COURSE.high_s
        wanted = self.load.sized(step_s)
        found = (each.at_s for each in self.looks if each.at_s >= step_s and each.parallelism <= wanted)
        return next((at_s - step_s for at_s in found), None)

    @property
    def _high(self) -> list[Look]:
        begin_s = self.load.phase_s
        return [each for each in self.looks if begin_s <= each.at_s < begin_s + COURSE.high_s]
