"""Rule 7: kill the process at any instant: nothing is applied twice, nothing is forgotten."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta

import hypothesis.strategies as st
from hypothesis import given

from headgate.engines.simulated.cluster import START
from headgate.engines.simulated.restart import Cause
from headgate.model.state import JobState
from headgate.simulate import Scenario
from headgate.testing.simulated import FEW, STEADY, Steady, scenarios, starting_at, steadily, steady_jobs
from headgate.testing.watched import Killing, Moment, WatchedSimulation, watch

EFFECTS = st.sampled_from([Moment.VALIDATE, Moment.SAVE, Moment.SAVED, Moment.SAVED, Moment.ASK, Moment.ASKED])
KILLS = st.sets(
    st.tuples(EFFECTS, st.integers(1, 6)) | st.tuples(st.just(Moment.OBSERVE), st.integers(1, 48)),
    min_size=2,
    max_size=4,
)
Kills = set[tuple[Moment, int]]


@FEW
@given(scenario=scenarios(), kills=KILLS)
def test_nothing_is_applied_twice_and_nothing_is_forgotten(scenario: Scenario, kills: Kills) -> None:
    """Kill the process at any instant: no change is made twice; history, rejections and reports outlive it."""
    simulation = watch(scenario, Killing(kills))
    applied = Counter(each.intent.decision_id for each in simulation.requests if each.intent and each.applied)
    assert max(applied.values(), default=0) <= 1
    states = simulation.states_of("job")
    for number, (before, after) in enumerate(itertools.pairwise(states)):
        assert keeps_rejections(before, after, simulation.saves[number + 1].at)
        assert keeps_history(before, after, scenario.autoscaler.history_max_count)
        assert tells_of_the_end(before, after)
    assert reported(simulation) >= to_report(simulation)


@FEW
@given(steady=steady_jobs(), kills=KILLS)
def test_a_killed_headgate_does_what_it_would_have_done(steady: Steady, kills: Kills) -> None:
    """Kill the process at any instant: under a steady load the same changes are made, only later."""
    scenario = steadily(steady[0], duration=timedelta(minutes=8))
    killed, spared = watch(scenario, Killing(kills)), watch(replace(scenario, duration=timedelta(minutes=4)))
    assert rescales(killed) == rescales(spared)
    assert reported(killed) >= to_report(killed)
    assert [record.after for record in states_at_end(killed).history] == [
        record.after for record in states_at_end(spared).history
    ]


@FEW
@given(steady=steady_jobs(), kills=st.sets(st.tuples(st.just(Moment.OBSERVE), st.integers(14, 36)), max_size=2))
def test_wishes_to_shrink_outlive_a_kill(steady: Steady, kills: Kills) -> None:
    """Nothing is forgotten: a wish to shrink counts from when it was first had, and is granted in its time."""
    job, needs = steady
    job = starting_at(job, {name: 5 * need for name, need in needs.items()})
    interval = timedelta(seconds=90)
    options = replace(STEADY, scale_down_interval=interval)
    simulation = watch(steadily(job, autoscaler=options, duration=timedelta(minutes=6)), Killing(kills))
    first = next(decision for decision in simulation.decisions if decision.delayed)
    acted = next(decision for decision in simulation.decisions if decision.acts)
    refilled = [at + STEADY.metrics_window + timedelta(seconds=20) for at in simulation.killed]
    assert first.at + interval <= acted.at <= max([first.at + interval, *refilled])


def keeps_rejections(before: JobState, after: JobState, at: datetime) -> bool:
    """Tell whether every rejection that has not expired is still there."""
    return all(rejection in after.rejections for rejection in before.rejections if rejection.expires_at > at)


def keeps_history(before: JobState, after: JobState, most: int) -> bool:
    """Tell whether every rescale is still remembered, unless there are too many younger ones."""
    left = [record.decision_id for record in after.history]
    return all(record.decision_id in left for record in before.history) or len(left) == most


def tells_of_the_end(before: JobState, after: JobState) -> bool:
    """Tell whether an intent that is no longer open left an event that says why."""
    intent = before.intent
    if intent is None or (after.intent and after.intent.decision_id == intent.decision_id):
        return True
    return any(event.fields["decision"] == intent.decision_id for event in after.outbox)


def reported(simulation: WatchedSimulation) -> set[str]:
    """Give the keys of all events that anybody was told."""
    return {event.key for event in simulation.events}


def to_report(simulation: WatchedSimulation) -> set[str]:
    """Give the keys of all events that were saved before the last whole cycle."""
    last = max((decision.at for decision in simulation.decisions), default=START)
    return {event.key for save in simulation.saves if save.at < last for event in save.state.outbox}


def rescales(simulation: WatchedSimulation) -> list[object]:
    """Give what each rescale made of the job, in order."""
    restarts = simulation.result.job.restarts
    return [dict(restart.changes) for restart in restarts if restart.cause is Cause.RESCALE]


def states_at_end(simulation: WatchedSimulation) -> JobState:
    """Give what is remembered of the job in the end."""
    return simulation.states_of("job")[-1] if simulation.saves else JobState()
