"""How many slots a graph takes: the vertices of a slot sharing group share them, groups do not."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from headgate.algorithm.rules import rules_of
from headgate.model.identity import VertexId
from headgate.model.topology import Topology, Vertex
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Deviation

MOST = 2**15
"""Flink's own bound of a parallelism (FLIP-159)."""


def slots_of(topology: Topology, parallelism: Mapping[VertexId, int] | None = None) -> int:
    """
    Give the slots that a graph takes.

    Args:
        topology: the graph; vertices whose group is unknown count as one group, those that have finished take none.
        parallelism: in place of the running one; vertices that are not named keep theirs.
    """
    wanted = parallelism or {}
    widest: dict[str | None, int] = {}
    for vertex in topology.vertices:
        if not vertex.finished:
            group, subtasks = vertex.slot_sharing_group, wanted.get(vertex.id, vertex.parallelism)
            widest[group] = max(widest.get(group, 0), subtasks)
    return sum(widest.values())


def groups_of(topology: Topology) -> int:
    """Give the slots without which a graph cannot run: one a group, at least 1."""
    return max(1, slots_of(topology, dict.fromkeys(topology.by_id, 1)))


def largest(vertex: Vertex, options: AutoscalerOptions) -> int:
    """
    Give the largest parallelism of a vertex in reactive mode: that of its key groups and partitions, at most 2^15.

    `vertex.max-parallelism` counts where it is set.
    """
    engine = vertex.largest if Deviation.PARTITIONS_BOUND in rules_of(options) else vertex.max_parallelism
    by_hand = options.max_parallelism if options.is_set("vertex.max-parallelism") else MOST
    return max(1, min(engine, by_hand, MOST))


def within_slots(topology: Topology, wanted: Mapping[VertexId, int], slots: int) -> Mapping[VertexId, int]:
    """
    Hold parallelisms to so many slots, cutting off what is above the highest bound at which all of them fit.

    No vertex is left without a subtask, also where there are too few slots for that.
    """
    if slots_of(topology, wanted) <= slots:
        return wanted

    def narrowed(span: tuple[int, int], _: int) -> tuple[int, int]:
        least, most = span
        middle = (least + most + 1) // 2
        return (middle, most) if slots_of(topology, _cut(wanted, middle)) <= slots else (least, middle - 1)

    most = max(wanted.values(), default=1)
    bound, _ = reduce(narrowed, range(most.bit_length()), (1, most))
    return _cut(wanted, bound)


def _cut(wanted: Mapping[VertexId, int], bound: int) -> Mapping[VertexId, int]:
    return {vertex: max(1, min(parallelism, bound)) for vertex, parallelism in wanted.items()}
