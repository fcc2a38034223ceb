"""
The network buffers that a TaskManager needs for given parallelism, from Flink's own count of them.

Every end of an edge has a gate with some floating buffers, and some more for each channel to the other end's subtasks.
"""

from __future__ import annotations

from collections.abc import Iterator

from headgate.algorithm.memory.config import Key, MemoryConfig
from headgate.model.identity import VertexId
from headgate.model.topology import ShipStrategy, Topology


def channels(own: int, other: int, strategy: ShipStrategy) -> int:
    """
    Give the channels of one subtask.

    Args:
        own: parallelism of the subtask's vertex, at least 1.
        other: parallelism of the vertex at the other end.
        strategy: one that is not known counts as all-to-all, which is the most.
    """
    if strategy in {ShipStrategy.FORWARD, ShipStrategy.RESCALE}:
        return -(-other // own)  # a FORWARD of equal ends is 1
    return other


def segments(own: int, other: int, strategy: ShipStrategy, config: MemoryConfig) -> int:
    """Give the buffers of one subtask's end of an edge."""
    per_channel = config.count(Key.BUFFERS_PER_CHANNEL) * channels(own, other, strategy)
    return per_channel + config.count(Key.FLOATING_BUFFERS)


def network_bytes(topology: Topology, config: MemoryConfig, slots: int) -> int:
    """
    Give the network memory of a TaskManager in which every slot holds one subtask of every vertex.

    Raises:
        ValueError: a setting cannot be read.
    """
    total = sum(segments(own, other, strategy, config) for own, other, strategy in _ends(topology))
    return total * config.size(Key.SEGMENT_SIZE) * slots


def _ends(topology: Topology) -> Iterator[tuple[int, int, ShipStrategy]]:
    """Give own and other parallelism at both ends of every edge."""

    def parallelism(vertex: VertexId) -> int:
        return topology.by_id[vertex].parallelism

    for edge in topology.edges:
        source, target = parallelism(edge.source), parallelism(edge.target)
        yield source, target, edge.ship_strategy
        yield target, source, edge.ship_strategy
