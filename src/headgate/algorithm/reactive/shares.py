"""
Who gets how many of a cluster's slots: first what each job needs at least, then the rest by weight.

Slot by slot (Webster's divisor method), so that one slot more never takes one from anybody.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass

from headgate.algorithm.reactive.slots import MOST, groups_of, largest, slots_of
from headgate.model.identity import JobKey
from headgate.model.topology import Topology
from headgate.options.autoscaler import AutoscalerOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotWish:
    """What one reactive job wants of its cluster."""

    least: int = 1
    """Slots that no other job's share takes."""
    most: int = MOST
    """Slots above which more are of no use to it."""
    weight: float = 1.0


def wish_of(topology: Topology | None, options: AutoscalerOptions) -> SlotWish:
    """Give the wish of a job; one whose graph was never seen counts with what its options say alone."""
    mine = options.reactive
    least, most = mine.min_parallelism, MOST
    if topology is not None:
        least = max(least, groups_of(topology))
        most = slots_of(topology, {vertex.id: largest(vertex, options) for vertex in topology.vertices})
    if mine.max_parallelism is not None:
        most = min(most, mine.max_parallelism)
    return SlotWish(least=least, most=max(least, most), weight=mine.weight)


def shares(slots: int, wishes: Mapping[JobKey, SlotWish]) -> Mapping[JobKey, int]:
    """
    Divide slots.

    Where they do not suffice for what all need at least, the heaviest jobs come first, of equal ones the first by key,
    and what is left over is kept for the next in line: nobody runs on another one's least.
    """
    given: dict[JobKey, int] = {}
    left = max(0, slots)
    for job in sorted(wishes, key=lambda job: (-wishes[job].weight, job)):
        given[job] = min(wishes[job].least, left)
        left -= given[job]
    return _spread(given, wishes, left)


def _spread(given: dict[JobKey, int], wishes: Mapping[JobKey, SlotWish], left: int) -> Mapping[JobKey, int]:
    """Hand out what is left, each slot to the job that has the fewest for its weight and can still use one."""
    line = [(_turn(given[job], wish), job) for job, wish in wishes.items() if given[job] < wish.most]
    heapq.heapify(line)
    while left > 0 and line:
        _, job = heapq.heappop(line)
        given[job] += 1
        left -= 1
        if given[job] < wishes[job].most:
            heapq.heappush(line, (_turn(given[job], wishes[job]), job))
    return given


def _turn(has: int, wish: SlotWish) -> float:
    return (2 * has + 1) / wish.weight
