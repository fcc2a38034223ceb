"""The answer about one job: graph and counters."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from headgate.engines.flink.details import default_max_parallelism, read_details, read_plan
from headgate.errors import UnreachableError
from headgate.model.topology import ShipStrategy, Topology

Recorded = Callable[[str], Any]


def test_graph_is_read(recorded: Recorded) -> None:
    """The recorded job is a chain of five with its ship strategies."""
    details = read_details(recorded("job"))
    topology = Topology(vertices=details.graph, edges=details.edges)
    assert [vertex.name for vertex in topology.vertices] == ["Source: source", "parse", "enrich", "agg", "sink: Writer"]
    assert [vertex.parallelism for vertex in topology.vertices] == [1, 2, 2, 2, 1]
    assert [edge.ship_strategy for edge in details.edges][2:] == [ShipStrategy.HASH, ShipStrategy.REBALANCE]
    assert details.sources == {topology.vertices[0].id}
    assert details.adaptive is True


def test_counters_are_read(recorded: Recorded) -> None:
    """Records and the three times of `agg`, summed over its two subtasks."""
    agg = read_details(recorded("job")).vertices[3]
    assert agg.counters is not None
    assert (agg.counters.records_in, agg.counters.records_out) == (31722, 31722)
    assert agg.counters.total_ms == 38691 + 111793
    assert agg.all_running


def test_tasks_that_have_not_reported_have_no_counters(recorded: Recorded) -> None:
    """A second after a restart Flink sends zeros and says that they are not complete."""
    assert {vertex.counters for vertex in read_details(recorded("job_starting")).vertices} == {None}


@pytest.mark.parametrize("what", ["read-records-complete", "write-records-complete"])
def test_sums_over_some_of_the_subtasks_are_no_counters(what: str, recorded: Recorded) -> None:
    """Whatever of the two Flink says is not complete: the others would look like a rate that has fallen."""
    answer = recorded("job")
    answer["vertices"][3]["metrics"][what] = False
    vertices = read_details(answer).vertices
    assert [vertex.counters is None for vertex in vertices] == [False, False, False, True, False]


def test_legacy_source_has_no_busy_time(recorded: Recorded) -> None:
    """A source of the old kind reports the text NaN; its records are known all the same."""
    source, aggregate = read_details(recorded("job_legacy_source")).vertices
    assert source.counters is not None
    assert aggregate.counters is not None
    assert source.counters.busy_ms is None
    assert source.counters.total_ms is None
    assert source.counters.records_out
    assert aggregate.counters.total_ms


def test_older_flink_leaves_fields_out(recorded: Recorded) -> None:
    """Flink 1.18 has no slot sharing group and no scheduler type, and may not know the maximum parallelism."""
    answer = recorded("job")
    del answer["schedulerType"]
    for vertex in answer["vertices"]:
        del vertex["slotSharingGroupId"]
        vertex["maxParallelism"] = -1
    details = read_details(answer)
    assert details.adaptive is None
    assert {(vertex.slot_sharing_group, vertex.max_parallelism) for vertex in details.graph} == {(None, 128)}


@pytest.mark.parametrize(
    "wrap",
    [
        lambda plan: plan,
        json.dumps,
        lambda plan: f"RawJson{{json='{json.dumps(plan)}'}}",
        lambda plan: {"plan": plan},
    ],
)
def test_plan_comes_in_several_wrappings(wrap: Callable[[Any], Any], recorded: Recorded) -> None:
    """An object, a text, and the printed wrapper of Flink 1.17 hold the same nodes."""
    plan = recorded("job")["plan"]
    assert read_plan(wrap(plan))["nodes"] == plan["nodes"]


def test_job_without_a_plan_is_not_ready() -> None:
    """A job that is being initialized has no vertices; that is no topology of zero vertices."""
    with pytest.raises(UnreachableError, match="no plan yet"):
        read_details({"jid": "1", "vertices": []})


def test_an_empty_plan_is_not_ready_either(recorded: Recorded) -> None:
    """Vertices without a plan would all be sources."""
    with pytest.raises(UnreachableError, match="no plan yet"):
        read_details({**recorded("job"), "plan": {"nodes": []}})


def test_a_finished_vertex_has_counted_nothing(recorded: Recorded) -> None:
    """What it did before is no part of what it does."""
    answer = recorded("job")
    answer["vertices"][0]["status"] = "FINISHED"
    source, parse = read_details(answer).vertices[:2]
    assert source.counters is not None
    assert parse.counters is not None
    assert (source.counters.records_out, source.counters.busy_ms) == (0, 0)
    assert parse.counters.records_in


@pytest.mark.parametrize(("parallelism", "bound"), [(1, 128), (85, 128), (86, 256), (30_000, 32_768)])
def test_default_max_parallelism_is_flinks(parallelism: int, bound: int) -> None:
    """Three halves, rounded up to a power of two, between 128 and 32,768."""
    assert default_max_parallelism(parallelism) == bound
