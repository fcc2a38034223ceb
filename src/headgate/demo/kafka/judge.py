"""
Judges what a phase's optimum does not tell: one step up, no decision in an outage, and every record once.

Pure. It sees what Flink told and what is in the topics, never anything that Headgate said.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from headgate.demo.timeline import Observation

HIGH, AWAY = 1, 2
"""The phases in which the load has stepped up, and in which the broker is away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Something that has to hold."""

    text: str
    seen: str
    holds: bool


def claims(
    timeline: Sequence[Observation], phase_length: timedelta, *, written: int, found: Counter[int]
) -> Iterator[Claim]:
    """
    Say what has to hold, and whether it does.

    Args:
        timeline: observations in order of time.
        phase_length: of every phase, the first beginning at 0 s.
        written: records that were written, numbered from 0.
        found: how often each number stands in the topic that the job writes.
    """
    up, away = (_rescales(timeline, number, phase_length) for number in (HIGH, AWAY))
    yield Claim(text="the step up is answered by one rescale", seen=f"{up} seen", holds=up == 1)
    yield Claim(text="nothing changes while the broker is away and comes back", seen=f"{away} seen", holds=away == 0)
    lost, doubled = written - len(found), sum(count - 1 for count in found.values())
    seen = f"{written} written, {lost} lost, {doubled} doubled"
    yield Claim(text="every record is there exactly once", seen=seen, holds=written > 0 and lost == 0 and doubled == 0)


def _rescales(timeline: Sequence[Observation], phase: int, phase_length: timedelta) -> int:
    """Count the changes of the running parallelism in a phase."""
    begin_s, end_s = (number * phase_length.total_seconds() for number in (phase, phase + 1))
    return sum(
        before.parallelism != after.parallelism and begin_s <= after.at_s < end_s
        for before, after in itertools.pairwise(timeline)
    )
