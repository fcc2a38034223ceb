"""How an application looks as a graph."""

from __future__ import annotations

from headgate.engines.spark.names import topology_of, vertex_id
from headgate.model.topology import ShipStrategy


def test_a_query_is_a_vertex_or_one_for_each_stage() -> None:
    """Chained by the shuffles between them."""
    graph = topology_of({"clean": 1, "count": 3}, 4)
    names = ["clean", "count: read", "count: shuffle 1", "count: shuffle 2"]
    assert sorted(vertex.name for vertex in graph.vertices) == names
    assert [(edge.source, edge.target) for edge in graph.edges] == [("count.0", "count.1"), ("count.1", "count.2")]
    assert {edge.ship_strategy for edge in graph.edges} == {ShipStrategy.HASH}


def test_all_vertices_run_on_all_cores() -> None:
    """They share the executors."""
    graph = topology_of({"clean": 1, "count": 2}, 4)
    assert set(graph.parallelism.values()) == {4}
    assert len({vertex.slot_sharing_group for vertex in graph.vertices}) == 1


def test_without_executors_for_an_instant_the_graph_still_stands() -> None:
    """Nothing runs with a parallelism of 0."""
    assert topology_of({"clean": 1}, 0).parallelism == {vertex_id("clean", 0): 1}
