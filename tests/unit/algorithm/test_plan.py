"""Proposals of one job are held together: no vertex is dragged along for nothing, tied ones stay equal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from headgate.algorithm.plan import Plan, groups, planned, undragged
from headgate.model.decision import Proposal
from headgate.model.identity import VertexId
from headgate.model.reasons import Reason
from headgate.model.topology import ShipStrategy, Topology
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Deviation, Parity
from headgate.testing.builders import chain

OURS = AutoscalerOptions()
THEIRS = AutoscalerOptions(parity=Parity.REFERENCE)


def _forward(parallelism: Mapping[str, int], *, hashed: frozenset[str] = frozenset(), most: int = 128) -> Topology:
    """Build a chain tied by FORWARD edges, but for the inputs of the vertices named."""
    graph = chain(parallelism, max_parallelism=most)
    edges = (e if e.target in hashed else replace(e, ship_strategy=ShipStrategy.FORWARD) for e in graph.edges)
    return replace(graph, edges=tuple(edges))


def _plan(topology: Topology, wanted: Mapping[str, int], outside: frozenset[str] = frozenset()) -> Plan:
    return tuple(
        Proposal(
            vertex=vertex.id,
            name=vertex.name,
            current=vertex.parallelism,
            wanted=wanted.get(vertex.name, vertex.parallelism),
            outside=vertex.name in outside,
        )
        for vertex in topology.vertices
    )


def _wanted(plan: Plan) -> Mapping[str, int]:
    return {proposal.name: proposal.wanted for proposal in plan}


def _with(topology: Topology, name: str, **changes: object) -> Topology:
    vertices = tuple(replace(v, **changes) if v.name == name else v for v in topology.vertices)  # type: ignore[arg-type]
    return replace(topology, vertices=vertices)


def test_one_step_within_the_band_is_not_made_because_another_vertex_changes() -> None:
    """A sink of 100 subtasks is not restarted into 101 because the source grows; the reference drags it along."""
    topology = chain({"source": 4, "agg": 20, "sink": 100})
    plan = _plan(topology, {"source": 8, "agg": 18, "sink": 101}, frozenset({"source"}))

    assert _wanted(planned(topology, plan, OURS)) == {"source": 8, "agg": 18, "sink": 100}
    assert _wanted(planned(topology, plan, THEIRS)) == {"source": 8, "agg": 18, "sink": 101}


def test_the_step_that_is_not_made_is_told() -> None:
    """By its reason, so that `explain` shows it."""
    topology = chain({"source": 4, "sink": 100})
    plan = undragged(_plan(topology, {"source": 8, "sink": 99}, frozenset({"source"})))

    assert [step.reason for step in plan[1].steps] == [Reason.WITHIN_BAND]


def test_who_has_cause_makes_even_one_step() -> None:
    """A vertex outside its band is not dragged."""
    topology = chain({"source": 4, "sink": 5})

    assert _wanted(undragged(_plan(topology, {"sink": 6}, frozenset({"sink"})))) == {"source": 4, "sink": 6}


def test_without_a_cause_wishes_are_left_for_the_verdict_to_tell() -> None:
    """Nothing will change anyway."""
    plan = _plan(chain({"source": 4, "sink": 5}), {"sink": 6})

    assert undragged(plan) == plan


@pytest.mark.parametrize(("map_wants", "common"), [(8, 8), (4, 4), (2, 4)])
def test_both_ends_of_a_forward_edge_keep_equal_parallelism(map_wants: int, common: int) -> None:
    """
    They take the larger of the two wishes.

    Apart, Flink would silently rebalance between them, and changes of one key would overtake each other (FLINK-40780).
    """
    topology = _forward({"source": 4, "map": 4})
    plan = _plan(topology, {"map": map_wants}, frozenset({"map"}))

    assert _wanted(planned(topology, plan, OURS)) == {"source": common, "map": common}
    assert _wanted(planned(topology, plan, THEIRS)) == {"source": 4, "map": map_wants}


def test_the_tie_is_a_deviation_by_name() -> None:
    """Who does not mind the order can let the ends apart."""
    topology = _forward({"source": 4, "map": 4})
    plan = _plan(topology, {"map": 8}, frozenset({"map"}))
    free = AutoscalerOptions(deviations_off=(Deviation.FORWARD_EQUAL,))

    assert planned(topology, plan, free) == plan


def test_the_tied_vertex_says_why_it_moves() -> None:
    """Its own numbers would not explain it."""
    topology = _forward({"source": 4, "map": 4})
    source, _ = planned(topology, _plan(topology, {"map": 8}, frozenset({"map"})), OURS)

    assert [step.reason for step in source.steps] == [Reason.FORWARD]


@pytest.mark.parametrize("limit", ["partitions", "max_parallelism"])
def test_tied_vertices_go_as_far_as_all_of_them_can(limit: str) -> None:
    """A source of six partitions, or of six key groups, lets the vertex behind it have six subtasks."""
    topology = _with(_forward({"source": 4, "map": 4}), "source", **{limit: 6})
    plan = _plan(topology, {"map": 8}, frozenset({"map"}))

    assert _wanted(planned(topology, plan, OURS)) == {"source": 6, "map": 6}


def test_an_excluded_vertex_holds_those_tied_to_it() -> None:
    """It is not scaled, and the others stay equal to it, whether they would grow or shrink."""
    topology = _forward({"source": 4, "map": 4})
    options = AutoscalerOptions(vertex_exclude_ids=("source",))

    for wish in (8, 2):
        plan = _plan(topology, {"map": wish}, frozenset({"map"}))
        assert _wanted(planned(topology, plan, options)) == {"source": 4, "map": 4}


def test_ends_that_run_apart_are_tied_no_longer() -> None:
    """Flink has made the edge a REBALANCE already; nothing is left to be kept."""
    topology = _forward({"source": 4, "map": 6})

    assert list(groups(topology)) == []


def test_ties_reach_over_several_edges() -> None:
    """A hashed input ends a group and begins the next one."""
    topology = _forward({"a": 4, "b": 4, "c": 4, "d": 2, "e": 2, "f": 2}, hashed=frozenset({"d", "f"}))

    assert [list(group) for group in groups(topology)] == [["a", "b", "c"], ["d", "e"]]
    plan = planned(topology, _plan(topology, {"c": 9, "e": 1}, frozenset({"c"})), OURS)
    assert _wanted(plan) == {"a": 9, "b": 9, "c": 9, "d": 2, "e": 2, "f": 2}


def test_two_inputs_of_one_vertex_are_one_group() -> None:
    """Whichever edge is looked at first."""
    edges = _forward({"left": 4, "join": 4}).edges + _forward({"right": 4, "join": 4}).edges
    topology = Topology(vertices=chain({"left": 4, "right": 4, "join": 4}).vertices, edges=edges)

    assert [set(group) for group in groups(topology)] == [{VertexId("left"), VertexId("right"), VertexId("join")}]


def test_an_excluded_vertex_is_not_moved_by_a_forward_edge() -> None:
    """A source of 6 subtasks and 4 partitions is tied to an excluded map: nothing changes."""
    graph = chain({"source": 6, "map": 6})
    source, behind = graph.vertices
    graph = replace(
        graph,
        vertices=(replace(source, partitions=4), behind),
        edges=tuple(replace(edge, ship_strategy=ShipStrategy.FORWARD) for edge in graph.edges),
    )
    options = AutoscalerOptions(vertex_exclude_ids=("map",))
    plan = (
        Proposal(vertex=VertexId("source"), name="source", current=6, wanted=4, outside=True),
        Proposal(vertex=VertexId("map"), name="map", current=6, wanted=6),
    )

    assert [proposal.wanted for proposal in planned(graph, plan, options)] == [6, 6]


def test_a_finished_vertex_ties_nobody() -> None:
    """No record comes from it any more, whose order could be lost."""
    topology = _with(_forward({"source": 4, "map": 4}), "source", finished=True)

    assert _wanted(planned(topology, _plan(topology, {"map": 8}, frozenset({"map"})), OURS)) == {"source": 4, "map": 8}
