"""Flink's vertices have ids of 32 digits: texts for people call them by name, fields for programs by id."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.control.ward import Doctor, lie_down

from headgate.errors import RefusedError
from headgate.model.events import EventReason
from headgate.model.identity import VertexId
from headgate.model.topology import Topology
from headgate.testing.builders import ORDERS, chain, context, sample
from headgate.testing.scenario import Scenario

IDS = {
    "Source: source": VertexId("cbc357ccb763df2852fee8c4fc7d55f2"),
    "agg": VertexId("e5a72f353fc1e6bbf3bd96a41384998c"),
}
AGG = IDS["agg"]


def as_in_flink(topology: Topology) -> Topology:
    """Give every vertex an id that says nothing."""
    vertices = tuple(replace(vertex, id=IDS[vertex.name]) for vertex in topology.vertices)
    edges = tuple(replace(edge, source=IDS[edge.source], target=IDS[edge.target]) for edge in topology.edges)
    return Topology(vertices=vertices, edges=edges)


@pytest.fixture
def ward() -> Scenario:
    """Run a job, source -> agg, whose agg needs four times its capacity, and a doctor."""
    world = Scenario(factors={"agg": 4.0}, decider=Doctor())
    world.engine.add(context(), sample(as_in_flink(chain({"Source: source": 1, "agg": 1})), job=ORDERS))
    return world


def texts(ward: Scenario) -> str:
    """Return all that people read: of events and of decisions."""
    messages = [event.message for event in ward.events.told]
    steps = [each.detail for one in ward.log.decisions for proposal in one.proposals for each in proposal.steps]
    return "\n".join([*messages, *(one.message for one in ward.log.decisions), *steps])


def vertices(ward: Scenario, reason: EventReason) -> list[object]:
    """Return what the events of a kind say to programs."""
    return [event.fields["vertices"] for event in ward.events.told if event.reason is reason]


async def test_a_rescale_that_is_taken_back_names_its_vertices(ward: Scenario) -> None:
    """When it is reported, asked for, taken back, and when that helps no more either."""
    await ward.tick(0)
    ward.factors = {}
    await ward.tick(30)
    lie_down(ward)
    for seconds in range(60, 960, 30):
        await ward.tick(seconds)
    assert {EventReason.SCALING_REPORT, EventReason.SCALING, EventReason.ROLLBACK, EventReason.ROLLBACK_IN_VAIN} <= set(
        ward.events.reasons
    )
    said = texts(ward)
    assert "asked the engine for agg 1 -> 4" in said
    assert "takes back agg 1 -> 4" in said
    assert "the job goes back to agg 1;" in said
    assert "agg at most" in said
    assert not [name for name in IDS.values() if name in said]
    assert vertices(ward, EventReason.SCALING_REPORT)[0] == f"{AGG} 1 -> 4"
    assert vertices(ward, EventReason.SCALING)[0] == f"{AGG} 1 -> 4"
    assert vertices(ward, EventReason.ROLLBACK) == [f"{AGG} 1 -> 4"]


async def test_a_rescale_that_is_refused_names_its_vertices(ward: Scenario) -> None:
    """And later decisions that remember the refusal."""
    ward.engine.realize_faults = [RefusedError("no slots")]
    await ward.tick(0)
    await ward.tick(30)
    assert EventReason.RESCALE_NOT_REACHED in ward.events.reasons
    assert not [name for name in IDS.values() if name in texts(ward)]
