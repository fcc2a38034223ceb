"""One job's graph and what bounds it, as plain numbers: made once, and kept as long as the job stays the same."""

from __future__ import annotations

from dataclasses import dataclass

from headgate.algorithm.policies import is_held
from headgate.model.identity import VertexId
from headgate.model.topology import ShipStrategy, Topology, Vertex
from headgate.options.autoscaler import AutoscalerOptions


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shape:
    """Vertices and edges by their places in topological order; edges sorted by target, then by source."""

    topology: Topology
    options: AutoscalerOptions
    level: tuple[int, ...]
    """Longest way from a source, 0 for a source."""
    finished: tuple[bool, ...]
    parallelism: tuple[int, ...]
    ceiling: tuple[int, ...]
    """Largest parallelism that a vertex may grow to, its running one at least."""
    upstream: tuple[int, ...]
    downstream: tuple[int, ...]
    broadcast: tuple[bool, ...]
    settled: bool
    """
    Whether no vertex runs above what its key groups and partitions allow, growth is taken to be linear, and nothing is
    owed: what is decides more than the numbers of one vertex.
    """

    def fits(self, topology: Topology, options: AutoscalerOptions) -> bool:
        """Tell whether it is still the shape of a job."""
        same_graph = self.topology is topology or self.topology == topology
        return same_graph and (self.options is options or self.options == options)


def shape_of(topology: Topology, options: AutoscalerOptions) -> Shape:
    """Give the shape of a job."""
    place = {vertex.id: number for number, vertex in enumerate(topology.vertices)}
    edges = sorted((place[edge.target], place[edge.source], edge.ship_strategy) for edge in topology.edges)
    return Shape(
        topology=topology,
        options=options,
        level=levels(topology),
        finished=tuple(vertex.finished for vertex in topology.vertices),
        parallelism=tuple(vertex.parallelism for vertex in topology.vertices),
        ceiling=tuple(_ceiling(vertex, options) for vertex in topology.vertices),
        upstream=tuple(source for _, source, _ in edges),
        downstream=tuple(target for target, _, _ in edges),
        broadcast=tuple(ship is ShipStrategy.BROADCAST for _, _, ship in edges),
        settled=not options.observed_scalability_enabled
        and not options.sla.is_set
        and all(vertex.parallelism <= vertex.largest for vertex in topology.vertices),
    )


def levels(topology: Topology) -> tuple[int, ...]:
    """Give the longest way from a source to each vertex, in topological order; 0 for a source."""
    level = dict.fromkeys((vertex.id for vertex in topology.vertices), 0)
    sources: dict[VertexId, list[VertexId]] = {}
    for edge in topology.edges:
        sources.setdefault(edge.target, []).append(edge.source)
    for vertex in level:
        level[vertex] = max((level[source] + 1 for source in sources.get(vertex, ())), default=0)
    return tuple(level.values())


def _ceiling(vertex: Vertex, options: AutoscalerOptions) -> int:
    if is_held(vertex, options):
        return vertex.parallelism
    return max(vertex.parallelism, min(options.max_parallelism, vertex.largest))
