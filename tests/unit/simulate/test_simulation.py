"""Headgate on a simulated cluster: the same loop as the service's, a story at a time."""

from __future__ import annotations

import functools
from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.engines.simulated.restart import Cause
from headgate.model.decision import Outcome
from headgate.model.events import EventReason
from headgate.model.reasons import Reason
from headgate.options.autoscaler import AutoscalerOptions, Reaction
from headgate.simulate import (
    ClusterSettings,
    Failure,
    FailureKind,
    Run,
    Scenario,
    Simulation,
    constant,
    job,
    simulate,
    steps,
    vertex,
)

QUICK = AutoscalerOptions(
    metrics_window=timedelta(minutes=2),
    stabilization_interval=timedelta(seconds=30),
    restart_time=timedelta(seconds=10),
    catch_up_duration=timedelta(),
    scale_down_interval=timedelta(),
    scale_down_max_factor=1.0,
    reaction=Reaction.WINDOWED,
)
"""Short windows, so that a story takes minutes; no head start for catching up, so that its end is arithmetic."""

PIPE = job(
    "pipe",
    vertex("source", 100_000, load=steps({0: 1000, 900: 400})),
    vertex("count", 150, max_parallelism=120),
    vertex("sink", 100_000),
)
STORY = Scenario(jobs=(PIPE,), autoscaler=QUICK, duration=timedelta(minutes=15))


@functools.cache
def story() -> Run:
    """Run the story once for all who read it."""
    return simulate(STORY)


def test_a_job_that_is_too_small_becomes_as_large_as_its_load_needs() -> None:
    """1000/s at 150/s a subtask and a target of 0.7 are 10 subtasks, by arithmetic; one rescale does it."""
    run = story()
    assert run.job.parallelism == {"source": 1, "count": 10, "sink": 1}
    (rescale,) = run.job.rescales
    assert rescale.cause is Cause.RESCALE
    acted = [decision for decision in run.job.decisions if decision.acts]
    assert [decision.reason for decision in acted] == [Reason.RESCALED]
    assert EventReason.RESCALE_REACHED in {event.reason for event in run.events}


def test_every_cycle_leaves_its_decision() -> None:
    """Thirty cycles in fifteen minutes, each with a reason, the first of them before anything could be decided."""
    decisions = story().job.decisions
    assert len(decisions) == 30
    assert all(decision.message for decision in decisions)
    assert decisions[0].outcome is Outcome.NOT_READY


def test_the_same_seed_gives_the_same_run() -> None:
    """With noise on load and measurement, to the last bit; another seed gives another run."""
    source = replace(PIPE.vertices[0], load=constant(1000, noise=0.1))
    noisy = replace(PIPE, vertices=(source, *PIPE.vertices[1:]))
    scenario = replace(STORY, jobs=(noisy,), measurement_noise=0.05, duration=timedelta(minutes=4), seed=3)
    first, second, other = simulate(scenario), simulate(scenario), simulate(replace(scenario, seed=4))
    assert first.job.frames == second.job.frames
    assert first.job.decisions == second.job.decisions
    assert first.job.frames != other.job.frames


def test_stepping_and_running_on_is_the_same_as_running() -> None:
    """However the time is cut."""
    stepped = Simulation(STORY)
    for minutes in (1, 2.5, 7):
        stepped.advance_to(timedelta(minutes=minutes))
    assert stepped.run().job.decisions == story().job.decisions


def test_a_simulation_may_be_changed_while_it_stands_still() -> None:
    """Somebody rescales the job by hand, and Headgate finds it as it is."""
    simulation = Simulation(replace(STORY, duration=timedelta(minutes=4)))
    simulation.advance_to(timedelta(seconds=30))
    simulation.cluster.jobs["pipe"].require({"count": 12}, simulation.cluster.now_s)
    assert simulation.run().job.parallelism["count"] == 12
    assert not any(decision.acts for decision in simulation.decisions)


def test_an_excluded_vertex_is_left_alone() -> None:
    """The options are the service's own."""
    options = replace(QUICK, vertex_exclude_ids=("count",))
    assert simulate(replace(STORY, autoscaler=options, duration=timedelta(minutes=5))).job.rescales == ()


def test_a_refused_rescale_is_not_made_and_said() -> None:
    """The event tells what the engine answered."""
    refused = Failure(what=FailureKind.REFUSAL, at=timedelta(), duration=timedelta(hours=1))
    run = simulate(replace(STORY, failures=(refused,), duration=timedelta(minutes=5)))
    assert run.job.rescales == ()
    assert EventReason.RESCALE_NOT_REACHED in {event.reason for event in run.events}


def test_a_request_whose_answer_got_lost_is_made_once() -> None:
    """The job changes all the same, and is asked for nothing twice."""
    lost = Failure(what=FailureKind.LOST_ANSWER, at=timedelta(), duration=timedelta(hours=1))
    run = simulate(replace(STORY, failures=(lost,), duration=timedelta(minutes=6)))
    assert len(run.job.rescales) == 1
    assert run.job.parallelism["count"] == 10


def test_while_metrics_are_missing_nothing_is_decided() -> None:
    """Not seen is not idle."""
    silent = Failure(what=FailureKind.METRICS, at=timedelta(minutes=2), duration=timedelta(minutes=6))
    run = simulate(replace(STORY, failures=(silent,), duration=timedelta(minutes=8)))
    assert run.job.rescales == ()
    assert {decision.reason for decision in run.job.decisions[5:-1]} == {Reason.JOB_UNREACHABLE}


def test_a_job_that_vanishes_is_no_longer_decided_on() -> None:
    """Its end is an event, and so is its return."""
    gone = Failure(what=FailureKind.VANISHING, at=timedelta(minutes=1), duration=timedelta(minutes=3))
    run = simulate(replace(STORY, failures=(gone,), duration=timedelta(minutes=6)))
    reasons = [event.reason for event in run.events]
    assert reasons.count(EventReason.JOB_VANISHED) == 1
    assert reasons.count(EventReason.JOB_APPEARED) == 2


def test_too_few_slots_are_reported() -> None:
    """The job gets what there is."""
    scenario = replace(STORY, cluster=ClusterSettings(slots=6), duration=timedelta(minutes=8))
    run = simulate(scenario)
    assert max(frame.slots for frame in run.job.frames) <= 6


def test_two_jobs_are_looked_after_side_by_side() -> None:
    """Each decision is of one job."""
    other = job("other", vertex("source", 100_000, load=constant(200)), vertex("count", 150))
    run = simulate(replace(STORY, jobs=(PIPE, other), duration=timedelta(minutes=6)))
    assert run.jobs["pipe"].parallelism["count"] == 10
    assert run.jobs["other"].parallelism["count"] == 2


def test_frames_tell_the_story_in_numbers() -> None:
    """Lag while the job is too small, downtime at the rescale, none of it in the end."""
    frames = story().job.frames
    assert frames[5].lag > 0
    assert any(not frame.running for frame in frames)
    assert sum(frame.arrivals_per_s * frame.span_s for frame in frames) == pytest.approx(900 * 1000)
    assert sum(frame.source_per_s * frame.span_s for frame in frames) + frames[-1].lag == pytest.approx(900 * 1000)


def test_a_headgate_that_was_killed_goes_on_with_what_it_had_saved() -> None:
    """Killed with a rescale under way, it begins with an empty window, finds its intent, and asks for nothing twice."""
    simulation = Simulation(STORY)
    simulation.advance_to(timedelta(seconds=155))
    assert simulation.decisions[-1].acts
    simulation.restart_headgate()
    run = simulation.run()
    assert len(run.job.rescales) == 1
    assert [event.reason for event in run.events].count(EventReason.RESCALE_REACHED) == 1
