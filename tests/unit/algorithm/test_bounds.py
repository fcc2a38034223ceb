"""A parallelism that made its job sick is not reached again before it is forgotten, whatever asks for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from headgate.algorithm.bounds import EVERYWHERE, common, room_of, within
from headgate.algorithm.decide import LoadChain, decide
from headgate.algorithm.review import amended
from headgate.model.decision import ConfigChanges, Decision, Outcome
from headgate.model.identity import VertexId
from headgate.model.reasons import Reason
from headgate.model.rollback import ParallelismBound, Side
from headgate.model.state import JobState
from headgate.model.topology import Edge, ShipStrategy, Topology
from headgate.options.autoscaler import AutoscalerOptions
from headgate.testing.builders import at, chain, evaluated, sample

A, B = VertexId("a"), VertexId("b")
GRAPH = chain({"a": 4, "b": 4})
TIED = replace(GRAPH, edges=(Edge(source=A, target=B, ship_strategy=ShipStrategy.FORWARD),))
OPTIONS = AutoscalerOptions(alignment_mode="OFF", scale_down_interval=at(0) - at(0))


def bound(parallelism: int, side: Side, *, vertex: VertexId = A, until: float = 60) -> ParallelismBound:
    """Return a bound that is forgotten a minute into the story, unless told otherwise."""
    why = "3 failures within 10 min"
    return ParallelismBound(vertex=vertex, parallelism=parallelism, side=side, expires_at=at(until), why=why)


def decided(
    factors: dict[str, float], *bounds: ParallelismBound, graph: Topology = GRAPH, now: float = 0, **options: Any
) -> Decision:
    """Return what is decided for a job that remembers these bounds."""
    chosen = replace(OPTIONS, **options)
    return decide(sample(graph), evaluated(graph, factors), chosen, at(now), JobState(bounds=bounds))


@pytest.mark.parametrize(
    ("side", "current", "wanted", "got"),
    [
        (Side.BELOW, 4, 12, 7),
        (Side.BELOW, 4, 7, 7),
        (Side.BELOW, 4, 1, 1),
        (Side.ABOVE, 12, 4, 9),
        (Side.ABOVE, 12, 20, 20),
    ],
)
def test_a_vertex_stops_short_of_what_made_its_job_sick(side: Side, current: int, wanted: int, got: int) -> None:
    """On the side where it runs; the other direction is free."""
    assert within([bound(8, side)], A, current, wanted, at(0)).parallelism == got


def test_a_vertex_that_is_across_already_is_not_moved() -> None:
    """Somebody put it there; it may stay or go back, and goes no further."""
    sick = [bound(8, Side.BELOW)]
    assert [within(sick, A, 10, wanted, at(0)).parallelism for wanted in (12, 10, 9, 3)] == [10, 10, 9, 3]


def test_it_is_said_what_was_sick_why_and_until_when() -> None:
    """And nothing where nothing was in the way."""
    held = within([bound(8, Side.BELOW)], A, 4, 12, at(0))
    assert held.why == (
        "with 8 subtasks or more the job was sick: 3 failures within 10 min; remembered until 2026-01-01 00:01:00 UTC"
    )
    assert not within([bound(8, Side.BELOW)], A, 4, 7, at(0)).why
    dated = replace(bound(8, Side.ABOVE), began_at=at(5))
    told = within([dated], A, 12, 4, at(0)).why
    assert told.startswith("with 8 subtasks or fewer the job was sick from 2026-01-01 00:00:05 UTC on: 3 failures")


def test_a_bound_is_forgotten_when_it_expires() -> None:
    """From that instant on; bounds of other vertices never count."""
    sick = [bound(8, Side.BELOW, until=60), bound(2, Side.BELOW, vertex=B)]
    assert within(sick, A, 4, 12, at(59.9)).parallelism == 7
    assert within(sick, A, 4, 12, at(60)).parallelism == 12


def test_the_nearest_of_several_bounds_counts() -> None:
    """Two sick regions on one side leave what both leave; one on each side leaves what lies between."""
    room = room_of(
        [bound(8, Side.BELOW), bound(6, Side.BELOW), bound(2, Side.ABOVE), bound(1, Side.ABOVE)], A, 4, at(0)
    )
    assert (room.least, room.most) == (3, 5)
    assert room_of([], A, 4, at(0)) == EVERYWHERE


def test_vertices_that_run_apart_may_have_nothing_in_common() -> None:
    """Then whatever is wanted is told of as out of bounds."""
    low, high = room_of([bound(3, Side.BELOW)], A, 2, at(0)), room_of([bound(3, Side.ABOVE)], A, 4, at(0))
    room = common([low, high])
    assert room.least > room.most
    assert all(room.why_not(wanted) for wanted in range(1, 9))


def test_growth_ends_below_the_bound_and_the_trail_says_so() -> None:
    """The step names the bound."""
    decision = decided({"a": 3.0}, bound(8, Side.BELOW))
    assert decision.targets[A] == 7
    step = decision.proposals[0].steps[-1]
    assert (step.before, step.after, step.reason) == (12, 7, Reason.ROLLBACK_BOUND)
    assert "the job was sick: 3 failures within 10 min" in step.detail
    assert decided({"a": 3.0}, bound(8, Side.BELOW), now=60).targets[A] == 12


def test_a_job_that_only_a_bound_holds_stays_and_says_why() -> None:
    """The message names it."""
    decision = decided({"a": 3.0}, bound(5, Side.BELOW))
    assert (decision.outcome, decision.reason) == (Outcome.KEEP, Reason.LIMITED)
    assert "a would run at 12 and stays at 4: with 5 subtasks or more the job was sick" in decision.message


def test_shrinking_ends_above_the_bound() -> None:
    """Also a wish that waited since before it."""
    assert decided({"a": 0.25}, bound(2, Side.ABOVE), scale_down_max_factor=1.0).targets[A] == 3


@pytest.mark.parametrize(
    ("sick", "factor", "options", "got"),
    [
        (bound(6, Side.BELOW), 2.0, {"min_parallelism": 8}, 5),
        (bound(2, Side.ABOVE), 0.25, {"max_parallelism": 2, "scale_down_max_factor": 1.0}, 3),
    ],
)
def test_a_bound_wins_over_the_limits_of_the_options(
    sick: ParallelismBound, factor: float, options: dict[str, Any], got: int
) -> None:
    """They ask for what made the job sick; the trail tells who won."""
    decision = decided({"a": factor}, sick, **options)
    assert decision.targets[A] == got
    assert decision.proposals[0].steps[-1].reason is Reason.ROLLBACK_BOUND


def test_alignment_looks_within_the_bound() -> None:
    """128 key groups divide among 8 and 16, not among 7: below 8 the next best is taken, and never 8 itself."""
    assert decided({"b": 1.4}, graph=GRAPH, alignment_mode="EVENLY_SPREAD").targets[B] == 8
    sick = bound(8, Side.BELOW, vertex=B)
    assert decided({"b": 1.4}, sick, alignment_mode="EVENLY_SPREAD").targets[B] == 6
    assert decided({"b": 1.4}, sick, alignment_mode="BALANCED").targets[B] < 8


def test_what_is_expected_of_a_growth_is_that_of_the_one_that_is_left() -> None:
    """So that it is not taken for an ineffective one later; 100/s for each subtask."""
    grown = decided({"b": 3.0}, bound(8, Side.BELOW, vertex=B), alignment_mode="BALANCED").proposals[1]
    assert [step.reason for step in grown.steps] == [Reason.UTILIZATION_TARGET, Reason.ROLLBACK_BOUND]
    assert (grown.wanted, grown.expected_rate) == (7, 700)


def test_ends_of_a_forward_edge_keep_to_the_bounds_of_each_other() -> None:
    """They have one parallelism, so a bound of one is a bound of both."""
    decision = decided({"a": 3.0}, bound(8, Side.BELOW, vertex=B), graph=TIED)
    assert decision.targets == {A: 7, B: 7}
    assert all(proposal.steps[-1].reason is Reason.ROLLBACK_BOUND for proposal in decision.proposals)


def test_a_plugin_is_held_to_the_bounds_too() -> None:
    """What it wants for another vertex, or for one tied to it, as well."""
    state = JobState(bounds=(bound(8, Side.BELOW, vertex=B),))
    for graph, got in ((GRAPH, {A: 9, B: 7}), (TIED, {A: 7, B: 7})):
        known = evaluated(graph, {"a": 1.5})
        wanted = decide(sample(graph), known, OPTIONS, at(0), state)
        bounds = LoadChain.of(sample(graph), known, OPTIONS, at(0), state=state)
        decision = amended(wanted, {A: 9, B: 9}, ConfigChanges(), bounds, plugin="p")
        assert decision.targets == got
        assert decision.proposals[1].steps[-1].reason is Reason.ROLLBACK_BOUND


def test_a_job_in_balance_stays_so() -> None:
    """Nothing moves because of a bound, not even a vertex that runs across it."""
    balanced = replace(evaluated(GRAPH, {}), balanced=True)
    state = JobState(bounds=(bound(2, Side.BELOW), bound(6, Side.ABOVE, vertex=B)))
    short = decide(sample(GRAPH), balanced, OPTIONS, at(0), state)
    long = decide(sample(GRAPH), replace(balanced, balanced=False), OPTIONS, at(0), state)
    assert (short.outcome, short.proposals) == (Outcome.KEEP, GRAPH.unchanged)
    assert replace(short, evaluated=None) == replace(long, evaluated=None)


@pytest.mark.parametrize(
    ("well", "sick", "side", "limit"),
    [(4, 12, Side.BELOW, 8), (4, 5, Side.BELOW, 4), (12, 4, Side.ABOVE, 8), (3, 2, Side.ABOVE, 3)],
)
def test_a_decision_goes_half_way_to_what_made_the_job_sick(well: int, sick: int, side: Side, limit: int) -> None:
    """From where it was well: one step less each time would be one sick try after the other."""
    known = replace(bound(sick, side), well=well)
    assert known.limit == limit
    assert within([known], A, well, sick, at(0)).parallelism == limit
