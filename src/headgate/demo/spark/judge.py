"""
Judges a run: which executors each phase needed by arithmetic, whether it had them, and how it came to them.

Pure. It sees what was drawn and what Spark told, never anything that Headgate said.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from headgate.demo.draw import Phase
from headgate.demo.spark.draw import EXECUTORS, SparkDraw
from headgate.demo.spark.progress import Batch
from headgate.demo.timeline import Observation

SETTLED_S = 8.0
"""A phase is passed if the number of executors was right for this long at its end."""

_MIN_SEEN = 3
"""Observations that this end of a phase needs at least: what nobody saw does not count as right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkVerdict:
    """One phase."""

    title: str
    rate_per_s: float
    wanted: int
    """Executors, by arithmetic."""
    reached: int | None
    """Executors held at the phase's end; none if they changed there."""
    settled_after_s: float | None
    """Seconds from the phase's begin until it was right for good; none if it never was."""
    batch_p95_s: float | None
    """Of the batches that ended in the phase; none if none did."""
    lag_records: float
    """Rows that waited at the end, those of the batch under way among them."""
    changes: int
    turns: int
    """How often a change took back the one before it."""
    turns_allowed: int
    """One where more had to be done for a while, to catch up, and none elsewhere."""

    @property
    def is_steady(self) -> bool:
        """Whether it went to what was wanted without going astray."""
        return self.turns <= self.turns_allowed

    @property
    def passed(self) -> bool:
        """Whether the phase ended at what was wanted, on a straight way."""
        return self.reached == self.wanted and self.is_steady


def judge_spark(
    workload: SparkDraw, timeline: Sequence[Observation], batches: Sequence[Batch], *, epoch: datetime, phase: timedelta
) -> tuple[SparkVerdict, ...]:
    """
    Return a verdict for each phase; the demo passed if all did.

    Args:
        workload: what was drawn.
        timeline: observations in order of time; those outside all phases only tell what was before.
        batches: all of them.
        epoch: when the first phase began.
        phase: length of every phase.
    """
    length_s = phase.total_seconds()
    verdicts = []
    for number, (before, now) in enumerate(itertools.pairwise((None, *workload.phases))):
        begin_s, end_s = number * length_s, (number + 1) * length_s
        ended = [batch for batch in batches if begin_s <= (batch.ended_at - epoch).total_seconds() < end_s]
        rises = before is not None and now is not None and now.rate_per_s > before.rate_per_s
        if now is not None:
            span = _Span(begin_s=begin_s, end_s=end_s, timeline=timeline, batches=ended)
            verdicts.append(_judge_phase(now, workload.optimum(now)[EXECUTORS], span, turns_allowed=int(rises)))
    return tuple(verdicts)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    """What was seen of a phase."""

    begin_s: float
    end_s: float
    timeline: Sequence[Observation]
    batches: Sequence[Batch]

    @property
    def seen(self) -> list[Observation]:
        return [each for each in self.timeline if self.begin_s <= each.at_s < self.end_s]

    @property
    def changes(self) -> list[int]:
        """By how many executors each change was, one that came after a phase's begin counts for the phase."""
        steps = itertools.pairwise(self.timeline)
        inside = ((one, other) for one, other in steps if self.begin_s <= other.at_s < self.end_s)
        differences = (_executors(other) - _executors(one) for one, other in inside)
        return [difference for difference in differences if difference]


def _judge_phase(phase: Phase, wanted: int, span: _Span, *, turns_allowed: int) -> SparkVerdict:
    seen, changes = span.seen, span.changes
    at_the_end = [_executors(each) for each in seen if each.at_s >= span.end_s - SETTLED_S]
    held = len(at_the_end) >= _MIN_SEEN and len(set(at_the_end)) == 1
    right_for_good = list(itertools.takewhile(lambda each: _executors(each) == wanted, reversed(seen)))
    return SparkVerdict(
        title=phase.title,
        rate_per_s=phase.rate_per_s,
        wanted=wanted,
        reached=at_the_end[-1] if held else None,
        settled_after_s=right_for_good[-1].at_s - span.begin_s if right_for_good else None,
        batch_p95_s=_p95([batch.duration_s for batch in span.batches]),
        lag_records=seen[-1].lag_records if seen else 0.0,
        changes=len(changes),
        turns=sum((one > 0) != (other > 0) for one, other in itertools.pairwise(changes)),
        turns_allowed=turns_allowed,
    )


def _executors(seen: Observation) -> int:
    return seen.parallelism[EXECUTORS]


def _p95(values: Sequence[float]) -> float | None:
    """Return the least value that 95 % do not exceed; none of none."""
    return sorted(values)[math.ceil(0.95 * len(values)) - 1] if values else None
