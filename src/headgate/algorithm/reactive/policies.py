"""The built-in answers to what a job makes of its slots: all vertices alike, in proportion, or up to a target."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.algorithm.reactive.slots import groups_of, slots_of
from headgate.model.identity import VertexId
from headgate.model.topology import Topology


def uniform(slots: int, topology: Topology) -> Mapping[VertexId, int]:
    """Give every vertex the same, whatever the user has set: all of the slots (FLIP-159)."""
    return dict.fromkeys(topology.by_id, max(1, slots // groups_of(topology)))


def proportional(slots: int, topology: Topology, configured: Mapping[VertexId, int]) -> Mapping[VertexId, int]:
    """Keep the proportions with which the job was submitted, rounded down; at least 1 each."""
    was = {vertex.id: configured.get(vertex.id, vertex.parallelism) for vertex in topology.vertices}
    took = slots_of(topology, was)
    return {vertex: max(1, parallelism * slots // max(1, took)) for vertex, parallelism in was.items()}


def bounds(slots: int, topology: Topology, target: int | None) -> Mapping[VertexId, int]:
    """Do as `uniform`, with no more slots than the target; None: with all of them."""
    return uniform(slots if target is None else min(slots, target), topology)
