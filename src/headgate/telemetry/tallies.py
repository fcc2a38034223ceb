"""Running counts as values, so that whoever scrapes holds what was true at one instant."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate

from headgate.control.runner import TickRun
from headgate.model.decision import Decision, Outcome

BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
"""Upper ends of the buckets of durations, seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCounts:
    """What happened to one job since the service began."""

    at: datetime
    """When it last happened."""
    scalings: int = 0
    advice: int = 0
    balanced: int = 0
    errors: int = 0

    def with_decision(self, decision: Decision) -> JobCounts:
        """Count a decision; one that could not be made counts nowhere."""
        rescale = decision.outcome is Outcome.RESCALE
        return replace(
            self,
            at=decision.at,
            scalings=self.scalings + (rescale and decision.acts),
            advice=self.advice + (rescale and not decision.acts),
            balanced=self.balanced + (decision.outcome is Outcome.KEEP),
        )

    def with_error(self, at: datetime) -> JobCounts:
        """Count an error."""
        return replace(self, at=at, errors=self.errors + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Durations:
    """A histogram of durations."""

    buckets: tuple[int, ...] = (0,) * (len(BOUNDS) + 1)
    """How many fell into each bucket alone; the last one has no upper end."""
    total_s: float = 0.0

    def with_duration(self, seconds: float) -> Durations:
        """Count one; a bucket's upper end belongs to it."""
        hit = bisect_left(BOUNDS, seconds)
        buckets = tuple(count + (number == hit) for number, count in enumerate(self.buckets))
        return Durations(buckets=buckets, total_s=self.total_s + seconds)

    def cumulated(self) -> Iterator[tuple[str, int]]:
        """Give for each upper end how many durations were no longer."""
        return zip((*map(str, BOUNDS), "+Inf"), accumulate(self.buckets), strict=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticks:
    """The ticks of one kind of work, of all clusters together."""

    last: TickRun
    failures: int = 0
    durations: Durations = Durations()

    def with_run(self, run: TickRun) -> Ticks:
        """Count a tick and make it the last one."""
        return Ticks(
            last=run,
            failures=self.failures + run.failed,
            durations=self.durations.with_duration(run.took.total_seconds()),
        )
