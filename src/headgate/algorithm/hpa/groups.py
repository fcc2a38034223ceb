"""Whose numbers decide for each vertex: those of the whole job, or its own and those of the sources behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headgate.algorithm.hpa.readings import Group
from headgate.algorithm.hpa.series import Track
from headgate.algorithm.hpa.settings import Scope
from headgate.model.identity import VertexId
from headgate.model.topology import Topology


def groups(topology: Topology, tracks: Mapping[VertexId, Track], scope: Scope) -> Mapping[VertexId, Group]:
    """Give the group of every vertex that is followed; vertices of one group share the very same value."""
    if scope is Scope.JOB:
        sources = [tracks[vertex] for vertex in tracks if topology.is_source(vertex)]
        whole = Group(sources=sources, members=tuple(tracks.values()))
        return dict.fromkeys(tracks, whole)
    behind = _sources_behind(topology)
    return {vertex: Group(sources=_known(tracks, behind[vertex]), members=(own,)) for vertex, own in tracks.items()}


def _sources_behind(topology: Topology) -> Mapping[VertexId, frozenset[VertexId]]:
    """Give the sources from which the records of each vertex come; of a source itself."""
    found: dict[VertexId, frozenset[VertexId]] = {}
    for vertex in topology.by_id:
        inputs = [found[edge.source] for edge in topology.inputs[vertex]]
        found[vertex] = frozenset().union(*inputs) if inputs else frozenset({vertex})
    return found


def _known(tracks: Mapping[VertexId, Track], vertices: frozenset[VertexId]) -> Sequence[Track]:
    return [tracks[vertex] for vertex in tracks if vertex in vertices]
