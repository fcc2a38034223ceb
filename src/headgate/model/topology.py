"""The job graph as it runs: vertices with their parallelism, and the edges between them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

from headgate.model.decision import Proposal
from headgate.model.identity import VertexId


class ShipStrategy(StrEnum):
    """How records of an edge are spread over the receiving subtasks (Flink's names)."""

    FORWARD = "FORWARD"
    HASH = "HASH"
    REBALANCE = "REBALANCE"
    RESCALE = "RESCALE"
    BROADCAST = "BROADCAST"
    GLOBAL = "GLOBAL"
    SHUFFLE = "SHUFFLE"
    CUSTOM = "CUSTOM"
    UNKNOWN = "UNKNOWN"

    @classmethod
    def of(cls, text: str) -> ShipStrategy:
        """Read an engine's text in any case; a strategy we do not know is `UNKNOWN`."""
        name = text.upper()
        return cls(name) if name in cls.__members__ else cls.UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Vertex:
    """One job vertex: a chain of operators that scales as one."""

    id: VertexId
    name: str
    parallelism: int
    max_parallelism: int
    slot_sharing_group: str | None = None
    finished: bool = False
    partitions: int | None = None
    """Partitions of a source; None when the connector does not tell."""

    @property
    def largest(self) -> int:
        """Largest parallelism that its key groups and partitions allow."""
        return min(self.max_parallelism, self.partitions or self.max_parallelism)

    @property
    def unchanged(self) -> Proposal:
        """The proposal to go on as it runs."""
        return Proposal(vertex=self.id, name=self.name, current=self.parallelism, wanted=self.parallelism)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """Records flow from `source` to `target`; parallel edges of a pair count as one."""

    source: VertexId
    target: VertexId
    ship_strategy: ShipStrategy = ShipStrategy.UNKNOWN


@dataclass(frozen=True, kw_only=True)
class Topology:
    """
    A job graph, its vertices in topological order whatever order they came in.

    Raises:
        ValueError: an edge names an unknown vertex, or the edges form a cycle.
    """

    vertices: tuple[Vertex, ...]
    edges: tuple[Edge, ...] = ()

    def __post_init__(self) -> None:
        """Sort the vertices so that every upstream stands before its downstream."""
        by_id = {vertex.id: vertex for vertex in sorted(self.vertices, key=lambda vertex: vertex.id)}
        graph: dict[VertexId, list[VertexId]] = {vertex: [] for vertex in by_id}
        for edge in sorted(self.edges, key=lambda edge: (edge.source, edge.target)):
            if edge.source not in by_id or edge.target not in by_id:
                message = f"edge {edge.source} -> {edge.target} names a vertex that the job does not have"
                raise ValueError(message)
            graph[edge.target].append(edge.source)
        try:
            order = tuple(TopologicalSorter(graph).static_order())
        except CycleError as error:
            message = f"the job graph has a cycle: {error.args[1]}"
            raise ValueError(message) from error
        object.__setattr__(self, "vertices", tuple(by_id[vertex] for vertex in order))

    @cached_property
    def by_id(self) -> Mapping[VertexId, Vertex]:
        """Vertices by id, in topological order."""
        return {vertex.id: vertex for vertex in self.vertices}

    @cached_property
    def inputs(self) -> Mapping[VertexId, tuple[Edge, ...]]:
        """Incoming edges of each vertex; empty for a source."""
        return {vertex.id: tuple(edge for edge in self.edges if edge.target == vertex.id) for vertex in self.vertices}

    @cached_property
    def outputs(self) -> Mapping[VertexId, tuple[Edge, ...]]:
        """Outgoing edges of each vertex; empty for a sink."""
        return {vertex.id: tuple(edge for edge in self.edges if edge.source == vertex.id) for vertex in self.vertices}

    @cached_property
    def parallelism(self) -> Mapping[VertexId, int]:
        """Running parallelism of each vertex."""
        return {vertex.id: vertex.parallelism for vertex in self.vertices}

    @cached_property
    def names(self) -> Mapping[VertexId, str]:
        """What people call each vertex."""
        return {vertex.id: vertex.name for vertex in self.vertices}

    @cached_property
    def unchanged(self) -> tuple[Proposal, ...]:
        """What no policy has touched yet, in the order of the vertices: all go on as they run."""
        return tuple(vertex.unchanged for vertex in self.vertices)

    @cached_property
    def sources(self) -> tuple[Vertex, ...]:
        """Vertices without inputs, in topological order."""
        return tuple(vertex for vertex in self.vertices if self.is_source(vertex.id))

    def is_source(self, vertex: VertexId) -> bool:
        """Tell whether a vertex has no inputs."""
        return not self.inputs[vertex]

    @cached_property
    def fingerprint(self) -> str:
        """
        A short text that changes when the graph does, but not with parallelism.

        A decision carries it, and is dropped when the running graph has another one. Ship strategies do not count:
        Flink turns FORWARD into REBALANCE by itself where a rescale leaves two ends with different parallelism.
        """
        lines = sorted(f"v {v.id} {v.max_parallelism}" for v in self.vertices)
        lines += sorted(f"e {e.source} {e.target}" for e in self.edges)
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]

    @cached_property
    def listing(self) -> str:
        """The fingerprint and the vertices, in order, as JSON."""
        vertices = [asdict(vertex) for vertex in self.vertices]
        return json.dumps({"fingerprint": self.fingerprint, "vertices": vertices})

    def with_parallelism(self, parallelism: Mapping[VertexId, int]) -> Topology:
        """Give the same graph with other parallelisms; vertices not named keep theirs."""
        vertices = tuple(replace(v, parallelism=parallelism.get(v.id, v.parallelism)) for v in self.vertices)
        return replace(self, vertices=vertices)
