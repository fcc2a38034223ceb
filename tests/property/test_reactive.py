"""Reactive mode's rules hold for any cluster, any jobs and any history of their slots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from headgate.algorithm.decide import not_ready
from headgate.algorithm.reactive.decide import Reaction, react
from headgate.algorithm.reactive.policies import bounds, proportional, uniform
from headgate.algorithm.reactive.shares import SlotWish, shares
from headgate.algorithm.reactive.slots import groups_of, slots_of, within_slots
from headgate.algorithm.reactive.timings import Offers, offered
from headgate.algorithm.reactive.workers import Fleet, fleet_after, workers_for
from headgate.algorithm.review import amended
from headgate.model.decision import ConfigChanges, Outcome
from headgate.model.identity import JobKey, VertexId
from headgate.model.metrics import NotReady
from headgate.model.reasons import Reason
from headgate.model.state import UNSEEN
from headgate.model.topology import Edge, ShipStrategy, Topology, Vertex
from headgate.options.reactive import ReactiveOptions, WorkersOptions
from headgate.plugins.worker.wire import packed
from headgate.testing.builders import ORDERS, START, at, evaluated, sample
from headgate.testing.reacting import reactive

SLOTS = st.integers(0, 80)


@st.composite
def wishes(draw: st.DrawFn) -> Mapping[JobKey, SlotWish]:
    """Draw up to five jobs, in any order."""
    names = draw(st.permutations([f"j{number}" for number in range(draw(st.integers(1, 5)))]))
    found = {}
    for name in names:
        least = draw(st.integers(1, 12))
        most, weight = least + draw(st.integers(0, 40)), draw(st.sampled_from([0.3, 1.0, 1.0, 2.5]))
        found[JobKey("prod", name)] = SlotWish(least=least, most=most, weight=weight)
    return found


@st.composite
def topologies(draw: st.DrawFn) -> Topology:
    """Draw a chain of up to five vertices in up to two slot sharing groups."""
    vertices = []
    for number in range(draw(st.integers(1, 5))):
        key_groups = draw(st.sampled_from([1, 5, 24, 128]))
        vertices.append(
            Vertex(
                id=VertexId(f"v{number}"),
                name=f"v{number}",
                parallelism=draw(st.integers(1, key_groups)),
                max_parallelism=key_groups,
                slot_sharing_group=draw(st.sampled_from([None, "a", "b"])),
                partitions=draw(st.none() | st.integers(1, 12)) if number == 0 else None,
            )
        )
    ships = st.sampled_from([ShipStrategy.HASH, ShipStrategy.FORWARD])
    edges = tuple(Edge(source=one.id, target=other.id, ship_strategy=draw(ships)) for one, other in pairwise(vertices))
    return Topology(vertices=tuple(vertices), edges=edges)


@given(SLOTS, wishes())
def test_no_more_slots_are_given_than_there_are(slots: int, jobs: Mapping[JobKey, SlotWish]) -> None:
    """And none is left while somebody could use it."""
    given_out = shares(slots, jobs)
    assert given_out.keys() == jobs.keys()
    assert all(0 <= share <= jobs[job].most for job, share in given_out.items())
    assert sum(given_out.values()) == min(slots, sum(wish.most for wish in jobs.values()))


@given(SLOTS, wishes())
def test_nobody_takes_the_least_of_another(slots: int, jobs: Mapping[JobKey, SlotWish]) -> None:
    """As long as one lacks its least, nobody has more than that."""
    given_out = shares(slots, jobs)
    if any(given_out[job] < wish.least for job, wish in jobs.items()):
        assert all(given_out[job] <= wish.least for job, wish in jobs.items())


@given(SLOTS, st.integers(0, 10), wishes())
def test_more_slots_take_none_from_anybody(slots: int, more: int, jobs: Mapping[JobKey, SlotWish]) -> None:
    """A worker that comes makes no job shrink."""
    before, after = shares(slots, jobs), shares(slots + more, jobs)
    assert all(after[job] >= before[job] for job in jobs)


@given(SLOTS, wishes())
def test_the_order_of_jobs_is_no_matter(slots: int, jobs: Mapping[JobKey, SlotWish]) -> None:
    """Every process divides alike, whatever it saw first."""
    assert shares(slots, dict(reversed(list(jobs.items())))) == shares(slots, jobs)


@given(topologies(), st.integers(1, 200))
def test_policies_keep_to_the_slots(topology: Topology, slots: int) -> None:
    """Each vertex has a subtask, and together they fit wherever that is possible at all."""
    most = max(slots, groups_of(topology))
    for wanted in (
        uniform(slots, topology),
        proportional(slots, topology, topology.parallelism),
        bounds(slots, topology, 3),
    ):
        fitting = within_slots(topology, wanted, slots)
        assert min(fitting.values()) >= 1
        assert slots_of(topology, fitting) <= most
        assert all(fitting[vertex] <= wanted[vertex] for vertex in wanted)
    assert slots_of(topology, bounds(slots, topology, 3)) <= max(3, groups_of(topology))


def reaction(topology: Topology, slots: int, wanted: Mapping[VertexId, int]) -> Reaction:
    """Put a decision's arguments together, of a job of which nothing was measured."""
    return Reaction(
        sample=sample(topology),
        options=reactive(),
        state=UNSEEN,
        now=START,
        slots=slots,
        total=slots,
        wanted=wanted,
        need=not_ready(ORDERS, NotReady(reason=Reason.NO_SAMPLES, message="none"), START),
    )


@given(topologies(), st.integers(1, 200), st.data())
def test_whatever_a_policy_gives_is_held_to_the_bounds(topology: Topology, slots: int, data: st.DataObject) -> None:
    """Of every vertex, and to the slots, wherever the job itself can keep to them."""
    given_out = {vertex: data.draw(st.integers(1, 10**6)) for vertex in topology.by_id}
    targets = react(reaction(topology, slots, given_out)).targets
    for vertex in topology.vertices:
        assert 1 <= targets[vertex.id] <= max(vertex.largest, vertex.parallelism)
    assert slots_of(topology, targets) <= max(slots, groups_of(topology))


@given(topology=topologies(), slots=st.integers(1, 200), data=st.data(), behind=st.booleans())
def test_whatever_a_plugin_makes_of_that_is_held_to_the_same(
    topology: Topology, slots: int, data: st.DataObject, *, behind: bool
) -> None:
    """To the bounds and the slots; and what is behind loses by a plugin no subtask that its slots do not take."""
    asked = {vertex: data.draw(st.integers(-3, 400)) for vertex in topology.by_id}
    rules = reaction(topology, slots, uniform(slots, topology))
    rules = replace(rules, need=replace(rules.need, evaluated=evaluated(topology, {}, backlog=behind)))
    rescale = replace(react(rules), outcome=Outcome.RESCALE)
    targets = amended(rescale, asked, ConfigChanges(), rules, plugin="p").targets
    for vertex in topology.vertices:
        assert 1 <= targets[vertex.id] <= max(vertex.largest, vertex.parallelism)
        running = within_slots(topology, topology.parallelism, slots)[vertex.id]
        assert not behind or targets[vertex.id] >= min(rescale.targets[vertex.id], running, vertex.largest)
    assert slots_of(topology, targets) <= max(slots, groups_of(topology))


@given(topologies(), st.integers(1, 200))
def test_the_same_slots_give_the_same_decision_to_the_byte(topology: Topology, slots: int) -> None:
    """Id, steps and words; and having been obeyed it is not repeated."""
    wanted = uniform(slots, topology)
    decision = react(reaction(topology, slots, wanted))
    again = react(reaction(topology, slots, dict(reversed(list(wanted.items())))))
    assert packed(decision) == packed(again)

    obeyed = topology.with_parallelism(decision.targets)
    assert not react(reaction(obeyed, slots, uniform(slots, obeyed))).changes


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 12)), min_size=1, max_size=25), st.data())
def test_a_share_counts_only_once_it_has_stayed(looks: list[tuple[int, int]], data: st.DataObject) -> None:
    """A growth was there for its whole wait, and a loss was one for its whole wait, whatever came before."""
    wait, patience = (timedelta(seconds=data.draw(st.integers(0, 60))) for _ in range(2))
    options = ReactiveOptions(resource_stabilization=wait, lost_worker_timeout=patience)
    offers, now, seen = Offers(), START, list[tuple[timedelta, int]]()
    for pause_s, share in looks:
        now += timedelta(seconds=pause_s)
        before, offers = offers.settled, offered(offers, share, now, options)
        seen.append((now - START, share))
        if before is None or offers.settled is None or before == offers.settled:
            continue
        span = wait if offers.settled > before else patience
        recent = [each for since, each in seen if START + since >= now - span]
        assert all(each >= offers.settled for each in recent) or offers.settled < before
        assert all(each <= offers.settled for each in recent) or offers.settled > before


@given(st.integers(0, 500), st.integers(1, 16), st.integers(0, 5), st.integers(0, 20))
def test_workers_hold_the_slots_within_their_bounds(slots: int, per: int, least: int, more: int) -> None:
    """No fewer than hold them, unless the bounds say so, and none for nothing."""
    options = WorkersOptions(least=least, most=max(1, least + more))
    count = workers_for(slots, per, options)
    assert options.least <= count <= options.most
    assert count * per >= slots or count == options.most
    assert (count - 1) * per < slots or count == options.least


@given(st.lists(st.tuples(st.integers(1, 90), st.integers(1, 9), st.booleans()), min_size=1, max_size=30))
def test_a_worker_goes_only_when_it_was_not_needed_for_the_interval(looks: list[tuple[int, int, bool]]) -> None:
    """Growth is never delayed; what is left after shrinking held everything in between."""
    options = WorkersOptions(least=1, most=9, scale_down_interval=timedelta(seconds=60))
    fleet, second, needs = Fleet(count=1), 0, list[tuple[int, int]]()
    for pause, needed, may_shrink in looks:
        second += pause
        needs.append((second, needed))
        before, fleet = fleet, fleet_after(fleet, needed, at(second), options, may_shrink=may_shrink)
        assert fleet.count >= needed
        if fleet.count < before.count:
            assert may_shrink
            assert all(each <= fleet.count for since, each in needs if since >= second - 60)
