"""Queries as vertices: one for each stage of a query, all on the same executors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from headgate.model.identity import VertexId
from headgate.model.topology import Edge, ShipStrategy, Topology, Vertex

MAX_PARALLELISM = 32768
"""Nothing in Spark bounds how many tasks run at once."""
SLOT_SHARING_GROUP = "executors"


def vertex_id(query: str, stage: int) -> VertexId:
    """Give the id of a query's stage, counted from 0; the same across restarts."""
    return VertexId(f"{query}.{stage}")


def vertex_name(query: str, stage: int, stages: int) -> str:
    """Give the name of one of a query's stages, as people read it."""
    if stages == 1:
        return query
    return f"{query}: shuffle {stage}" if stage else f"{query}: read"


def topology_of(stages: Mapping[str, int], cores: int) -> Topology:
    """
    Give the graph of an application.

    Args:
        stages: how many each query has, at least one.
        cores: how many tasks can run at once.
    """
    vertices = (vertex for query, count in stages.items() for vertex in _vertices(query, count, cores))
    edges = (edge for query, count in stages.items() for edge in _edges(query, count))
    return Topology(vertices=tuple(vertices), edges=tuple(edges))


def _vertices(query: str, stages: int, cores: int) -> Iterator[Vertex]:
    for stage in range(stages):
        yield Vertex(
            id=vertex_id(query, stage),
            name=vertex_name(query, stage, stages),
            parallelism=max(cores, 1),  # for an instant there may be no executor
            max_parallelism=MAX_PARALLELISM,
            slot_sharing_group=SLOT_SHARING_GROUP,
        )


def _edges(query: str, stages: int) -> Iterator[Edge]:
    for stage in range(1, stages):
        yield Edge(source=vertex_id(query, stage - 1), target=vertex_id(query, stage), ship_strategy=ShipStrategy.HASH)
