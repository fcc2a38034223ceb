"""
Judges a run: how many TaskManagers each phase needed, and whether the job ran on that many in the end.

Pure. It sees what was drawn and what Flink told, never anything that Headgate said.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from headgate.demo.judge import SETTLED_S
from headgate.demo.reactive.draw import DEATH, SLOTS, ReactiveDraw
from headgate.demo.reactive.watch import Sight

_MIN_SEEN = 3
"""Sights that this end of a phase needs at least: what nobody saw does not count as right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseVerdict:
    """One phase."""

    title: str
    rate_per_s: float
    wanted: int
    """TaskManagers, by arithmetic."""
    reached: int | None
    """TaskManagers that there were at the phase's end, and that the job used; none if that changed there."""
    settled_after_s: float | None
    """Seconds from the phase's begin until it was right for good; none if it never was."""
    least_running: int | None
    """The fewest slots that the job ran in, where a TaskManager died; none elsewhere, and if it never shrank."""
    felt: bool
    """Whether a death was felt at all: the job ran in fewer slots, or not for a moment."""
    largest_lag_records: float

    @property
    def passed(self) -> bool:
        """Whether the job ended the phase on the TaskManagers that it needed, after whatever was done to it."""
        return self.felt and self.reached == self.wanted


def judge_reactive(
    workload: ReactiveDraw, timeline: Sequence[Sight], phase_length: timedelta
) -> tuple[PhaseVerdict, ...]:
    """
    Return a verdict for each phase; the demo passed if all did.

    Args:
        workload: what was drawn.
        timeline: sights in order of time; those outside all phases do not count.
        phase_length: of every phase, the first beginning at 0 s.
    """
    length_s = phase_length.total_seconds()
    parts = [
        [each for each in timeline if number * length_s <= each.at_s < (number + 1) * length_s]
        for number in range(len(workload.phases))
    ]
    return tuple(_judge_phase(workload, number, seen, length_s) for number, seen in enumerate(parts))


def _judge_phase(workload: ReactiveDraw, number: int, seen: Sequence[Sight], length_s: float) -> PhaseVerdict:
    phase, begin_s = workload.phases[number], number * length_s
    wanted = workload.workers(phase)
    at_the_end = [_used(each) for each in seen if each.at_s >= begin_s + length_s - SETTLED_S]
    held = len(at_the_end) >= _MIN_SEEN and len(set(at_the_end)) == 1
    right = list(itertools.takewhile(lambda each: _used(each) == wanted, reversed(seen)))
    fewer = [each.running for each in seen if each.running < wanted * SLOTS]
    deadly = number == DEATH
    return PhaseVerdict(
        title=phase.title,
        rate_per_s=phase.rate_per_s,
        wanted=wanted,
        reached=at_the_end[-1] if held else None,
        settled_after_s=right[-1].at_s - begin_s if right else None,
        least_running=min((slots for slots in fewer if slots), default=None) if deadly else None,
        felt=bool(fewer) or not deadly,
        largest_lag_records=max((each.lag_records for each in seen), default=0.0),
    )


def _used(sight: Sight) -> int | None:
    """Return the TaskManagers if the job runs in all of their slots."""
    return sight.workers if sight.running == sight.workers * SLOTS else None
