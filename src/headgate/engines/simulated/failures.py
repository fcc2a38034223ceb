"""What goes wrong in a simulation, and when."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Annotated

from headgate.options.bounds import Interval
from headgate.options.declaration import Options, option
from headgate.options.units import PositiveDuration


class FailureKind(StrEnum):
    """What goes wrong."""

    JOB = "job"
    """The whole job restarts from its last checkpoint."""
    VERTEX = "vertex"
    """One vertex is down for the duration and counts from 0; the job goes on around it."""
    TASK_MANAGER = "task-manager"
    """Slots are gone for the duration; the jobs restart with what is left."""
    METRICS = "metrics"
    """No sample can be taken for the duration; of one vertex alone, if one is named."""
    CLUSTER = "cluster"
    """The cluster does not answer at all for the duration; its jobs run on."""
    REFUSAL = "refusal"
    """The engine refuses every rescale for the duration."""
    TIMEOUT = "timeout"
    """Rescale requests get lost for the duration."""
    LOST_ANSWER = "lost-answer"
    """Rescale requests are accepted for the duration, but nobody hears of it."""
    VANISHING = "vanishing"
    """The job is gone for the duration, and comes back under another job id; for ever where there is no duration."""
    DEPLOYMENT = "bad-deployment"
    """
    The job's user submits it anew, as it was at the beginning, and it never comes up, whatever its parallelism. After
    the duration a good one is submitted; never where there is no duration.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mishap(Options):
    """What two ways to plan a failure share."""

    what: FailureKind = option("what")
    """What goes wrong."""

    duration: timedelta = option("duration", timedelta())
    """How long it lasts, where that means something."""

    job: str = option("job", "")
    """Name of the job; unset: all of them."""

    vertex: str = option("vertex", "")
    """Name of the vertex; unset: all of them."""

    slots: Annotated[int, Interval(ge=1)] = option("slots", 1)
    """How many slots a lost TaskManager takes away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure(_Mishap):
    """Something that goes wrong at a given time."""

    at: timedelta = option("at")
    """Since the beginning of the simulation."""

    def concerns(self, job: str) -> bool:
        """Tell whether a job is meant."""
        return self.job in {"", job}

    @property
    def end_s(self) -> float:
        """When it is over, in seconds since the beginning."""
        return (self.at + self.duration).total_seconds()

    def lasts_at(self, at_s: float) -> bool:
        """Tell whether it goes on at an instant."""
        return self.at.total_seconds() <= at_s < self.end_s


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomFailures(_Mishap):
    """Something that goes wrong again and again, at seeded times that do not depend on each other."""

    every: PositiveDuration = option("every")
    """Mean time between two of them."""

    def drawn(self, seed: str, until: timedelta) -> Iterator[Failure]:
        """Draw the failures of one run."""
        chance = random.Random(seed)  # noqa: S311 - a draw that can be repeated, no secret
        mean_s = self.every.total_seconds()
        at = timedelta(seconds=chance.expovariate(1 / mean_s))
        while at < until:
            yield Failure(
                what=self.what, at=at, duration=self.duration, job=self.job, vertex=self.vertex, slots=self.slots
            )
            at += timedelta(seconds=chance.expovariate(1 / mean_s))


def planned(
    failures: Iterable[Failure], chances: Iterable[RandomFailures], *, seed: int, until: timedelta
) -> tuple[Failure, ...]:
    """Return every failure of a run in order of time."""
    drawn = [
        failure for number, each in enumerate(chances) for failure in each.drawn(f"{seed}/failures/{number}", until)
    ]
    return tuple(sorted([*failures, *drawn], key=lambda failure: failure.at))
