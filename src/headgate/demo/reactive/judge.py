"""
Judges a phase: how many TaskManagers it needed, and whether the job came to run on that many and stayed there.

Pure. It sees what was drawn and what Flink told, never anything that Headgate said.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from headgate.demo.reactive.draw import DEATH, SLOTS, ReactiveDraw
from headgate.demo.reactive.watch import Sight

HOLD_S = 8.0
"""A phase is passed once the job has run on the right number for so long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseVerdict:
    """One phase, as far as it has been seen."""

    title: str
    rate_per_s: float
    wanted: int
    """TaskManagers, by arithmetic."""
    reached: int | None
    """TaskManagers that there were last, if the job used all of them."""
    settled_after_s: float | None
    """Seconds from the phase's begin until it was right for good; none while it is not."""
    least_running: int | None
    """The fewest slots that the job ran in, where a TaskManager died; none elsewhere, and if it never shrank."""
    largest_lag_records: float
    passed: bool
    """Whether the job held the right number, after whatever was done to it."""


def judge_phase(workload: ReactiveDraw, number: int, seen: Sequence[Sight]) -> PhaseVerdict:
    """
    Return the verdict on a phase; one of which nothing was seen is not passed.

    Args:
        workload: what was drawn.
        number: of the phase, counted from 0.
        seen: all sights since it began, in order of time.
    """
    phase = workload.phases[number]
    wanted = workload.workers(phase)
    right = list(itertools.takewhile(lambda each: _used(each) == wanted, reversed(seen)))
    fewer = [each.running for each in seen if each.running < wanted * SLOTS]
    is_felt = bool(fewer) or number != DEATH
    return PhaseVerdict(
        title=phase.title,
        rate_per_s=phase.rate_per_s,
        wanted=wanted,
        reached=_used(seen[-1]) if seen else None,
        settled_after_s=right[-1].at_s - seen[0].at_s if right else None,
        least_running=min((slots for slots in fewer if slots), default=None) if number == DEATH else None,
        largest_lag_records=max((each.lag_records for each in seen), default=0.0),
        passed=is_felt and bool(right) and right[0].at_s - right[-1].at_s >= HOLD_S,
    )


def _used(sight: Sight) -> int | None:
    """Return the TaskManagers if the job runs in all of their slots."""
    return sight.workers if sight.running == sight.workers * SLOTS else None
