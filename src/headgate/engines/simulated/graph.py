"""What a simulated job is: vertices with their curves, and the edges between them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from headgate.engines.simulated.curve import ServiceCurve
from headgate.engines.simulated.load import Load
from headgate.engines.simulated.sickness import Sickness
from headgate.model.identity import VertexId
from headgate.model.topology import Edge, ShipStrategy, Topology, Vertex
from headgate.options.bounds import Interval
from headgate.options.declaration import Options, option


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedVertex(Options):
    """
    A vertex; one that nothing flows into is a source and has a load.

    Raises:
        ValueError: the parallelism is above its maximum, or the shares do not fit the partitions.
    """

    name: str = option("name")
    """Also its vertex id, for example in `job.autoscaler.vertex.exclude.ids`."""

    curve: ServiceCurve = option("curve")
    """What it can do at which parallelism."""

    parallelism: Annotated[int, Interval(ge=1)] = option("parallelism", 1)
    """What it starts with."""

    max_parallelism: Annotated[int, Interval(ge=1)] = option("max-parallelism", 128)
    """Number of key groups: the engine refuses more."""

    selectivity: Annotated[float, Interval(ge=0)] = option("selectivity", 1.0)
    """Records written to each output for each record read, where the edge does not say otherwise."""

    buffer: timedelta = option("buffer", timedelta(seconds=1))
    """How much work fits into the buffers of each input; no less than a step of the simulation."""

    buffer_records: Annotated[float, Interval(gt=0)] | None = option("buffer-records", None)
    """The same as a number of records, which wins."""

    hot_key_share: Annotated[float, Interval(ge=0, le=1)] = option("hot-key-share", 0.0)
    """Share of the records that one subtask gets by itself; the rest is spread evenly."""

    keyed: bool = option("keyed", default=False)
    """Whether records go by key group: of 128 key groups, one of 100 subtasks gets two, twice as many as most."""

    limit: Annotated[float, Interval(gt=0)] | None = option("limit", None)
    """Records/s that no parallelism raises, such as those of a database behind a sink."""

    state_bytes: Annotated[float, Interval(ge=0)] = option("state-bytes", 0.0)
    """State that a restart has to load, over all subtasks."""

    load: Load = option("load", default_factory=Load)
    """What arrives at a source."""

    partitions: Annotated[int, Interval(ge=1)] | None = option("partitions", None)
    """Partitions of a source: subtasks beyond them are idle. Unset: the input can be shared at will."""

    partition_shares: tuple[float, ...] = option("partition-shares", ())
    """Share of the load that goes to each partition, in proportion; unset: all alike."""

    records: Annotated[float, Interval(gt=0)] | None = option("records", None)
    """How many records a source has altogether before it finishes; unset: it never does."""

    def __post_init__(self) -> None:
        """Hold the numbers together."""
        if self.parallelism > self.max_parallelism:
            message = f"parallelism {self.parallelism} of {self.name} is above max-parallelism {self.max_parallelism}"
            raise ValueError(message)
        if self.partition_shares and len(self.partition_shares) != (self.partitions or 0):
            message = f"partition-shares of {self.name} must be one for each of its partitions"
            raise ValueError(message)
        if self.partition_shares and (min(self.partition_shares) < 0 or sum(self.partition_shares) <= 0):
            message = f"partition-shares of {self.name} must not be negative, and not all 0"
            raise ValueError(message)

    def capacity_per_s(self, parallelism: int) -> float:
        """Return what it can really do: limited by the hottest subtask and from outside; partitions do not count."""
        even = self.curve.capacity_per_s(parallelism)
        return min(even / (parallelism * self.hottest_share(parallelism)), self.limit or float("inf"))

    def hottest_share(self, parallelism: int) -> float:
        """Return the share of the records that the hottest subtask gets."""
        groups = self.max_parallelism
        even = math.ceil(groups / parallelism) / groups if self.keyed else 1 / parallelism
        return self.hot_key_share + (1 - self.hot_key_share) * even

    def coldest_share(self, parallelism: int) -> float:
        """Return the share of the records that the coldest subtask gets; all of them where it is the only one."""
        if parallelism == 1:
            return 1.0
        groups = self.max_parallelism
        even = groups // parallelism / groups if self.keyed else 1 / parallelism
        return (1 - self.hot_key_share) * even


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedEdge(Options):
    """Records flow from one vertex to another."""

    source: str = option("from")
    """Name of the vertex that writes."""

    target: str = option("to")
    """Name of the vertex that reads."""

    ship: ShipStrategy = option("ship", ShipStrategy.HASH)
    """How they are spread; BROADCAST copies each to every subtask."""

    selectivity: Annotated[float, Interval(ge=0)] | None = option("selectivity", None)
    """Records written to this edge for each record read; unset: the vertex's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedJob(Options):
    """
    A job graph; without edges its vertices are a chain in the order given.

    Raises:
        ValueError: a name stands twice, an edge or a sickness leads nowhere, the edges form a cycle, or an inner vertex
            has a load.
    """

    name: str = option("name", "job")
    """The job's name."""

    vertices: tuple[SimulatedVertex, ...] = option("vertices")
    """All of them, in any order where there are edges."""

    edges: tuple[SimulatedEdge, ...] = option("edges", ())
    """Unset: a chain."""

    sicknesses: tuple[Sickness, ...] = option("sicknesses", ())
    """At which parallelism the job does not work, and why."""

    def __post_init__(self) -> None:
        """Refuse a graph that cannot run."""
        names = [vertex.name for vertex in self.vertices]
        if not names or len(set(names)) < len(names):
            message = f"vertices of {self.name} must be at least one, with different names: {', '.join(names)}"
            raise ValueError(message)
        topology = self.topology
        for vertex in self.vertices:
            if vertex.load != Load() and not topology.is_source(VertexId(vertex.name)):
                message = f"vertices of {self.name}: {vertex.name} has a load but is no source"
                raise ValueError(message)
        for unknown in {sickness.vertex for sickness in self.sicknesses} - {"", *names}:
            message = f"sicknesses of {self.name}: there is no vertex {unknown!r}, only {', '.join(names)}"
            raise ValueError(message)

    @property
    def connections(self) -> tuple[SimulatedEdge, ...]:
        """The edges, those of a chain where none are given."""
        pairs = itertools.pairwise(vertex.name for vertex in self.vertices)
        return self.edges or tuple(SimulatedEdge(source=source, target=target) for source, target in pairs)

    @property
    def topology(self) -> Topology:
        """The graph as it is submitted."""
        return Topology(
            vertices=tuple(
                Vertex(
                    id=VertexId(vertex.name),
                    name=vertex.name,
                    parallelism=vertex.parallelism,
                    max_parallelism=vertex.max_parallelism,
                    partitions=vertex.partitions,
                )
                for vertex in self.vertices
            ),
            edges=tuple(
                Edge(source=VertexId(edge.source), target=VertexId(edge.target), ship_strategy=edge.ship)
                for edge in self.connections
            ),
        )

    def needed_rates(self, arrivals_per_s: Mapping[str, float]) -> Mapping[str, float]:
        """Return the records/s that reach each vertex when nothing holds them up, broadcast copies left out."""
        by_name = {vertex.name: vertex for vertex in self.vertices}
        rates = {vertex.name: arrivals_per_s.get(vertex.name, 0.0) for vertex in self.vertices}
        order = [vertex.name for vertex in self.topology.vertices]
        for edge in sorted(self.connections, key=lambda edge: order.index(edge.source)):
            ratio = by_name[edge.source].selectivity if edge.selectivity is None else edge.selectivity
            rates[edge.target] += rates[edge.source] * ratio
        return rates
