"""Who gets which slots, what is made of them, and how many workers that takes: small examples to read."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from headgate.algorithm.explain import explain
from headgate.algorithm.reactive.decide import kept
from headgate.algorithm.reactive.policies import bounds, proportional, uniform
from headgate.algorithm.reactive.shares import SlotWish, shares, wish_of
from headgate.algorithm.reactive.slots import MOST, slots_of, within_slots
from headgate.algorithm.reactive.timings import Offers, offered
from headgate.algorithm.reactive.workers import Fleet, fleet_after, workers_for
from headgate.model.identity import JobKey, VertexId
from headgate.model.reasons import Reason
from headgate.model.topology import Topology
from headgate.options.reactive import ReactiveOptions, WorkersOptions
from headgate.testing.builders import at, chain, sample
from headgate.testing.conformance.material import rescale
from headgate.testing.reacting import reactive

BIG, SMALL = JobKey("prod", "big"), JobKey("prod", "small")
SOURCE, AGG = VertexId("source"), VertexId("agg")


def grouped(topology: Topology, **groups: str) -> Topology:
    """Put vertices into slot sharing groups by their names."""
    vertices = tuple(replace(vertex, slot_sharing_group=groups[vertex.name]) for vertex in topology.vertices)
    return replace(topology, vertices=vertices)


def test_vertices_of_a_group_share_their_slots() -> None:
    """Groups do not, and what has finished takes none."""
    graph = chain({"source": 2, "agg": 6})
    assert slots_of(graph) == 6
    assert slots_of(grouped(graph, source="a", agg="b")) == 8
    done = tuple(replace(vertex, finished=vertex.id == AGG) for vertex in graph.vertices)
    assert slots_of(replace(graph, vertices=done)) == 2


def test_slots_are_divided_by_weight_after_what_each_needs_at_least() -> None:
    """Nine slots at two to one; then a least that is more than the weight would give."""
    assert shares(9, {BIG: SlotWish(weight=2.0), SMALL: SlotWish()}) == {BIG: 6, SMALL: 3}
    assert shares(9, {BIG: SlotWish(weight=2.0), SMALL: SlotWish(least=5)}) == {BIG: 4, SMALL: 5}


def test_what_one_cannot_use_another_gets() -> None:
    """A share is no allowance that goes to waste."""
    assert shares(9, {BIG: SlotWish(weight=2.0, most=2), SMALL: SlotWish()}) == {BIG: 2, SMALL: 7}


def test_a_least_that_cannot_be_met_is_kept_for_its_job() -> None:
    """The heavier comes first; the other waits with what there is, and nobody takes that."""
    assert shares(7, {BIG: SlotWish(least=5, weight=2.0), SMALL: SlotWish(least=4)}) == {BIG: 5, SMALL: 2}


def test_a_job_wants_no_more_than_its_vertices_can_have() -> None:
    """Never more than 2^15; an unseen job counts with its options."""
    assert wish_of(chain({"source": 1, "agg": 1}, max_parallelism=12), reactive()).most == 12
    assert wish_of(chain({"source": 1}, max_parallelism=2**20), reactive()).most == MOST == 32_768
    assert wish_of(None, reactive(min_parallelism=3, max_parallelism=5)) == SlotWish(least=3, most=5)


def test_the_built_in_policies() -> None:
    """Six slots for a job that was submitted with 1 and 3."""
    graph = chain({"source": 1, "agg": 3})
    assert uniform(6, graph) == {SOURCE: 6, AGG: 6}
    assert uniform(6, grouped(graph, source="a", agg="b")) == {SOURCE: 3, AGG: 3}
    assert proportional(6, graph, graph.parallelism) == {SOURCE: 2, AGG: 6}
    assert bounds(6, graph, 4) == {SOURCE: 4, AGG: 4}


def test_what_does_not_fit_is_cut_off_at_the_top() -> None:
    """The small vertex keeps its own."""
    graph = grouped(chain({"source": 1, "agg": 1}), source="a", agg="b")
    assert within_slots(graph, {SOURCE: 2, AGG: 9}, 8) == {SOURCE: 2, AGG: 6}
    assert within_slots(graph, {SOURCE: 2, AGG: 9}, 0) == {SOURCE: 1, AGG: 1}


def test_a_growth_must_stay_and_a_loss_may_come_back() -> None:
    """Thirty seconds for the one, ten for the other."""
    options = ReactiveOptions(resource_stabilization=timedelta(seconds=30), lost_worker_timeout=timedelta(seconds=10))
    offers = Offers()
    settled = []
    for second, share in [(0, 4), (29, 4), (30, 4), (40, 6), (69, 6), (70, 6), (80, 2), (89, 2), (90, 2)]:
        offers = offered(offers, share, at(second), options)
        settled.append(offers.settled)
    assert settled == [None, None, 4, 4, 4, 6, 6, 6, 2]


def test_workers_hold_the_slots_that_are_needed() -> None:
    """Five slots at two a worker are three; bounds are bounds."""
    options = WorkersOptions(least=1, most=4)
    assert [workers_for(slots, 2, options) for slots in (0, 5, 6, 100)] == [1, 3, 3, 4]


def test_fewer_workers_are_the_most_that_were_needed_meanwhile() -> None:
    """Not those that are needed at the moment at which the interval ends."""
    options = WorkersOptions(least=1, most=9, scale_down_interval=timedelta(seconds=60))
    fleet = Fleet(count=6)
    for second, needed in ((0, 2), (30, 4), (59, 1)):
        fleet = fleet_after(fleet, needed, at(second), options, may_shrink=True)
        assert fleet.count == 6
    assert fleet_after(fleet, 1, at(60), options, may_shrink=False).count == 6
    assert fleet_after(fleet, 1, at(60), options, may_shrink=True).count == 4


def test_a_decision_that_keeps_a_reactive_job_is_explained() -> None:
    """Why, what is waited for, and each vertex, also without metrics."""
    decision = kept(rescale()[0], sample(chain({"source": 2})), Reason.SLOTS_UNSETTLED, "two slots are lost")
    text = "\n".join(explain(replace(decision, evaluated=None)))
    assert "Keep (SlotsUnsettled)" in text
    assert "two slots are lost" in text
    assert "waiting until the slots have been there for long enough" in text
    assert "source: stays at 2" in text


def test_a_largest_parallelism_that_is_set_to_the_default_holds() -> None:
    """Two hundred, where nothing that is set means as many as there are key groups."""
    wide, meant = chain({"source": 1}, max_parallelism=4096), replace(reactive(), keys_set=("vertex.max-parallelism",))
    assert (wish_of(wide, reactive()).most, wish_of(wide, meant).most) == (4096, 200)
