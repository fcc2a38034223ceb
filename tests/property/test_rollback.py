"""A rescale that made its job sick is taken back, once: whatever the region of parallelism in which it is sick."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import hypothesis.strategies as st
from hypothesis import given

from headgate.model.events import EventReason
from headgate.simulate import Sickness, SicknessKind, SimulatedJob, vertex
from headgate.testing.sick import (
    COUNT,
    QUICK,
    Sickly,
    bounds_of,
    forbidden,
    is_well,
    serves_what_it_can,
    sickly_jobs,
    tries,
)
from headgate.testing.simulated import FEW, seconds
from headgate.testing.watched import Killing, Moment, WatchedSimulation, watch


@FEW
@given(sickly=sickly_jobs())
def test_a_job_ends_well_whatever_parallelism_makes_it_sick(sickly: Sickly) -> None:
    """It runs where it is not sick, does what it can there, and has been sick once at most."""
    simulation = watch(sickly.scenario())
    assert is_well(simulation)
    assert serves_what_it_can(simulation)
    assert len([each for each in tries(simulation) if sickly.is_sick_at(each.wanted[COUNT])]) <= 1


@FEW
@given(sickly=sickly_jobs(falls_ill=True))
def test_a_rescale_that_makes_a_job_sick_is_taken_back(sickly: Sickly) -> None:
    """The job is back where it was well, stays there, and one event says why."""
    simulation = watch(sickly.scenario())
    assert [each.wanted[COUNT] for each in tries(simulation)] == [sickly.wanted, sickly.began]
    assert simulation.result.job.parallelism["count"] == sickly.began
    assert is_well(simulation)
    assert [event.reason for event in simulation.events].count(EventReason.ROLLBACK) == 1


@FEW
@given(sickly=sickly_jobs(falls_ill=True), pause=st.integers(30, 60), expiry=st.integers(2, 20))
def test_nothing_that_made_a_job_sick_is_tried_again_before_it_expires(sickly: Sickly, pause: int, expiry: int) -> None:
    """Scaling goes on after a short pause, but nowhere that was sick, or further."""
    rollback = replace(QUICK.rollback, pause=timedelta(seconds=pause), bound_expiry=timedelta(minutes=expiry))
    simulation = watch(sickly.scenario(replace(QUICK, rollback=rollback), duration=timedelta(minutes=12)))
    bounds = bounds_of(simulation)
    assert not [each for each in tries(simulation) if forbidden(each, bounds)]
    assert any(bounds.values())


@FEW
@given(sickly=sickly_jobs(falls_ill=True), pause=st.integers(30, 60), after=st.integers(0, 120))
def test_a_job_is_not_sick_again_and_again(sickly: Sickly, pause: int, after: int) -> None:
    """With a pause so short that it is tried again at once, and a verdict that could come too late: never a loop."""
    rollback = replace(QUICK.rollback, pause=timedelta(seconds=pause), pressure_after=timedelta(seconds=after))
    simulation = watch(sickly.scenario(replace(QUICK, rollback=rollback), duration=timedelta(minutes=12)))
    sick = [each for each in tries(simulation) if sickly.is_sick_at(each.wanted[COUNT])]
    assert 1 <= len(sick) <= 1 + abs(sickly.wanted - sickly.began).bit_length()


MOMENTS = st.sampled_from([Moment.VALIDATE, Moment.SAVE, Moment.SAVED, Moment.ASK, Moment.ASKED])
KILLS = st.sets(
    st.tuples(MOMENTS, st.integers(1, 8)) | st.tuples(st.just(Moment.OBSERVE), st.integers(8, 40)),
    min_size=1,
    max_size=3,
)


@FEW
@given(sickly=sickly_jobs(falls_ill=True), kills=KILLS)
def test_a_killed_headgate_takes_back_what_it_would_have(sickly: Sickly, kills: set[tuple[Moment, int]]) -> None:
    """Killed at any instant between the rescale and the verdict, with all that it held in memory, it ends the same."""
    simulation = watch(sickly.scenario(), Killing(kills))
    assert [each.wanted[COUNT] for each in tries(simulation)] == [sickly.wanted, sickly.began]
    assert is_well(simulation)
    assert {event.key for event in simulation.events if event.reason is EventReason.ROLLBACK}


@FEW
@given(
    sickly=sickly_jobs(falls_ill=True),
    at=seconds(100, 260),
    graph=st.booleans(),
    count=st.integers(1, 14),
    after=st.sampled_from([0, 3]),
)
def test_a_deployment_of_the_users_own_is_not_touched(
    sickly: Sickly, at: timedelta, *, graph: bool, count: int, after: int
) -> None:
    """Whether the user submits a bad job before, during or after a rescale of ours: it is his own affair."""
    simulation = WatchedSimulation(sickly.scenario())
    simulation.advance_to(at)
    before = len(simulation.requests)
    simulation.cluster.deploy(bad_deployment(sickly, graph=graph, count=count, after=after))
    simulation.run()
    assert simulation.requests[before:] == []
    assert simulation.result.job.parallelism["count"] == count


@FEW
@given(sickly=sickly_jobs(falls_ill=True), at=seconds(0, 60), count=st.integers(15, 20))
def test_a_parallelism_of_the_users_own_is_not_touched(sickly: Sickly, at: timedelta, count: int) -> None:
    """Where the user changes a job by hand after a rescale of ours that was good, what becomes of it is his affair."""
    good = replace(sickly.job, sicknesses=(Sickness(what=SicknessKind.FAILING, vertex="count", least=15),))
    simulation = WatchedSimulation(replace(sickly.scenario(), jobs=(good,)))
    simulation.advance_to(timedelta(seconds=80))
    running = simulation.cluster.jobs["job"]
    assert running.parallelism["count"] == sickly.wanted
    simulation.advance_to(timedelta(seconds=80) + at)
    before = len(simulation.requests)
    running.require({"count": count}, simulation.cluster.now_s)
    simulation.run()
    assert not any(request.applied for request in simulation.requests[before:])
    assert running.required["count"] == count


def bad_deployment(sickly: Sickly, *, graph: bool, count: int, after: int) -> SimulatedJob:
    """Give a job that is sick at any parallelism, with another vertex or without."""
    sickness = Sickness(what=SicknessKind.FAILING, after=timedelta(seconds=after))
    vertices = tuple(replace(each, parallelism=count if each.name == "count" else 1) for each in sickly.job.vertices)
    more = (vertex("sink", 1e5),) if graph else ()
    return replace(sickly.job, vertices=(*vertices, *more), sicknesses=(sickness,))
