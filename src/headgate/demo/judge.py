"""
Judges a run: which parallelism each phase needed by arithmetic, and whether the job had it in the end.

Pure. It sees what was drawn and what Flink told, never anything that Headgate said.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from headgate.demo.draw import Phase
from headgate.demo.scene import Workload
from headgate.demo.timeline import Observation

SETTLED_S = 10.0
"""A phase is passed if the parallelism was right for this long at its end."""

_MIN_SEEN = 3
"""Observations that this end of a phase needs at least: what nobody saw does not count as right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VertexVerdict:
    """One vertex in one phase."""

    name: str
    wanted: int
    """`ceil(records per second * cost / utilization target)`."""
    reached: int | None
    """The parallelism held at the phase's end; none if it changed there."""
    settled_after_s: float | None
    """Seconds from the phase's begin until it was right for good; none if it never was."""

    @property
    def passed(self) -> bool:
        """Whether the vertex ended the phase at what was wanted."""
        return self.reached == self.wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseVerdict:
    """The whole job in one phase."""

    title: str
    rate_per_s: float
    vertices: tuple[VertexVerdict, ...]
    rescales: int
    """How often the running parallelism changed."""
    largest_lag_records: float

    @property
    def passed(self) -> bool:
        """Whether every vertex ended the phase at what was wanted."""
        return all(vertex.passed for vertex in self.vertices)

    @property
    def settled_after_s(self) -> float | None:
        """Seconds until the whole job was right for good; none if it never was."""
        times = [vertex.settled_after_s for vertex in self.vertices]
        return None if None in times else max(time for time in times if time is not None)


def judge(workload: Workload, timeline: Sequence[Observation], phase_length: timedelta) -> tuple[PhaseVerdict, ...]:
    """
    Return a verdict for each phase; the demo passed if all did.

    Args:
        workload: what was drawn.
        timeline: observations in order of time; those outside all phases only tell what was before.
        phase_length: of every phase, the first beginning at 0 s.
    """
    length_s = phase_length.total_seconds()
    return tuple(
        _judge_phase(phase, workload.optimum(phase), timeline, number * length_s, (number + 1) * length_s)
        for number, phase in enumerate(workload.phases)
    )


def _judge_phase(
    phase: Phase, wanted: Mapping[str, int], timeline: Sequence[Observation], begin_s: float, end_s: float
) -> PhaseVerdict:
    seen = [each for each in timeline if begin_s <= each.at_s < end_s]
    return PhaseVerdict(
        title=phase.title,
        rate_per_s=phase.rate_per_s,
        vertices=tuple(_judge_vertex(name, parallelism, seen, begin_s, end_s) for name, parallelism in wanted.items()),
        rescales=sum(
            before.parallelism != after.parallelism and begin_s <= after.at_s < end_s
            for before, after in itertools.pairwise(timeline)
        ),
        largest_lag_records=max((each.lag_records for each in seen), default=0.0),
    )


def _judge_vertex(name: str, wanted: int, seen: Sequence[Observation], begin_s: float, end_s: float) -> VertexVerdict:
    at_the_end = [each.parallelism.get(name) for each in seen if each.at_s >= end_s - SETTLED_S]
    held = len(at_the_end) >= _MIN_SEEN and len(set(at_the_end)) == 1
    right_for_good = list(itertools.takewhile(lambda each: each.parallelism.get(name) == wanted, reversed(seen)))
    return VertexVerdict(
        name=name,
        wanted=wanted,
        reached=at_the_end[-1] if held else None,
        settled_after_s=right_for_good[-1].at_s - begin_s if right_for_good else None,
    )
