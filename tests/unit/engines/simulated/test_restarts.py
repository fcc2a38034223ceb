"""A simulated job over time: rescales at checkpoints, downtime by state, slots, and what goes wrong."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from headgate.engines.simulated.cluster import SimulatedCluster
from headgate.engines.simulated.failures import Failure, FailureKind, RandomFailures, planned
from headgate.engines.simulated.job import RunningJob
from headgate.engines.simulated.restart import Cause
from headgate.engines.simulated.settings import ClusterSettings, Conditions, RestartSettings
from headgate.model.measures import JobStatus
from headgate.simulate import constant, job, vertex

RATE = 100.0
PIPE = job(
    "pipe",
    vertex("source", 1000, load=constant(RATE), parallelism=2),
    vertex("count", 60, parallelism=2, state_bytes=6e9),
)


def cluster(*failures: Failure, **settings: Any) -> SimulatedCluster:
    """Run the pipe on a cluster that restarts in 5 s, and 60 s for a subtask's share of 6 GB."""
    restart = settings.pop("restart", RestartSettings(base=timedelta(seconds=5), restore_rate=100e6))
    conditions = Conditions(settings=ClusterSettings(restart=restart, **settings))
    return SimulatedCluster([PIPE], conditions=conditions, failures=failures)


def failure(what: FailureKind, at: float, *, lasts: float = 0, **rest: Any) -> Failure:
    """Plan a failure, times in seconds."""
    return Failure(what=what, at=timedelta(seconds=at), duration=timedelta(seconds=lasts), **rest)


def pipe(running: SimulatedCluster) -> RunningJob:
    """Give the only job."""
    return running.jobs["pipe"]


def test_a_rescale_waits_for_the_next_checkpoint() -> None:
    """Asked for at 70 s, with one checkpoint a minute, it begins at 120 s."""
    running = cluster()
    running.advance_to(70)
    pipe(running).require({"count": 4}, running.now_s)
    running.advance_to(119)
    assert pipe(running).restarts == []
    running.advance_to(125)
    (restart,) = pipe(running).restarts
    assert (restart.cause, restart.began_s, restart.changes) == (Cause.RESCALE, 120, {"count": (2, 4)})


def test_without_checkpoints_a_rescale_begins_at_once() -> None:
    """There is nothing to wait for."""
    running = cluster(checkpoint_interval=timedelta())
    running.advance_to(70)
    pipe(running).require({"count": 4}, running.now_s)
    running.advance_to(75)
    assert pipe(running).restarts[0].began_s == 71


def test_two_rescales_are_a_cooldown_apart() -> None:
    """It counts from when the job runs again."""
    running = cluster(checkpoint_interval=timedelta(seconds=1), cooldown=timedelta(seconds=40))
    pipe(running).require({"count": 4}, 0)
    running.advance_to(25)
    pipe(running).require({"count": 3}, running.now_s)
    running.advance_to(200)
    first, second = pipe(running).restarts
    assert second.began_s == pytest.approx(first.ended_s + 40, abs=1)


def test_downtime_grows_with_state_and_shrinks_with_parallelism() -> None:
    """Six subtasks load their share of 6 GB in 10 s, three in 20 s."""
    settings = RestartSettings(base=timedelta(seconds=5), restore_rate=100e6)
    assert settings.downtime_s(PIPE, {"source": 1, "count": 6}) == pytest.approx(15)
    assert settings.downtime_s(PIPE, {"source": 1, "count": 3}) == pytest.approx(25)


def test_lag_grows_by_what_arrives_while_the_job_is_down() -> None:
    """Nothing is read, counters begin at 0 in a new epoch, and the job runs since the end of its restart."""
    running = cluster(failure(FailureKind.JOB, 100))
    running.advance_to(130)
    down = pipe(running)
    assert down.status(running.now_s) is JobStatus.RESTARTING
    assert down.tasks["source"].lag == pytest.approx(30 * RATE)
    running.advance_to(137)
    assert down.status(running.now_s) is JobStatus.RUNNING
    assert down.running_since_s == 135
    assert down.tasks["count"].epoch == 1
    assert down.tasks["count"].tally.run_ms == 2000


@pytest.mark.parametrize(("replays", "again_s"), [(True, 40), (False, 0)])
def test_a_failure_takes_the_source_back_to_the_last_checkpoint_where_it_is_told_to(
    *, replays: bool, again_s: float
) -> None:
    """40 s after a checkpoint, 40 s of input are read again; else a restart loses and repeats nothing."""
    restart = RestartSettings(base=timedelta(seconds=10), replays=replays)
    running = cluster(failure(FailureKind.JOB, 100), restart=restart)
    running.advance_to(101)
    assert pipe(running).tasks["source"].lag == pytest.approx((again_s + 1) * RATE)
    running.advance_to(1000)
    read = pipe(running).tasks["count"].ledger.read
    assert read == pytest.approx(RATE * (1000 + again_s), rel=0.01)


def test_with_too_few_slots_a_job_takes_what_there_is_after_a_while() -> None:
    """It asks for 12 of 8: after the stabilization, at a checkpoint, it runs with 8."""
    running = cluster(slots=8, checkpoint_interval=timedelta(seconds=10))
    pipe(running).require({"count": 12}, 0)
    running.advance_to(59)
    assert pipe(running).restarts == []
    running.advance_to(80)
    assert pipe(running).parallelism == {"source": 2, "count": 8}
    assert running.slots_free == 0


def test_two_jobs_share_the_slots() -> None:
    """The second one gets what the first one leaves."""
    other = job("other", vertex("source", 1000, load=constant(1), parallelism=5))
    running = SimulatedCluster([PIPE, other], conditions=Conditions(settings=ClusterSettings(slots=6)))
    assert running.jobs["other"].parallelism == {"source": 4}
    assert running.slots_free == 0


def test_a_lost_task_manager_shrinks_the_job_until_it_is_back() -> None:
    """Both times the job restarts, and what was asked for holds on."""
    running = cluster(failure(FailureKind.TASK_MANAGER, 100, lasts=300, slots=3), slots=4)
    pipe(running).require({"count": 4}, 0)
    running.advance_to(390)
    assert pipe(running).parallelism == {"source": 1, "count": 1}
    running.advance_to(600)
    assert pipe(running).parallelism == {"source": 2, "count": 4}
    assert [restart.cause for restart in pipe(running).restarts] == [Cause.RESCALE, Cause.SLOTS, Cause.SLOTS]


def test_a_vertex_that_fails_alone_counts_from_nothing_and_holds_up_the_others() -> None:
    """The job's own start does not move, and the other vertex keeps its counters."""
    running = cluster(failure(FailureKind.VERTEX, 100, lasts=10, vertex="count"))
    running.advance_to(105)
    assert pipe(running).status(running.now_s) is JobStatus.STARTING
    running.advance_to(150)
    found = pipe(running)
    assert (found.tasks["count"].epoch, found.tasks["source"].epoch) == (1, 0)
    assert found.running_since_s == 0
    assert found.tasks["count"].tally.run_ms == pytest.approx(40_000)
    assert found.tasks["source"].tally.run_ms == pytest.approx(150_000)
    assert found.restarts == []


def test_a_job_that_vanished_comes_back_under_another_id() -> None:
    """What arrives meanwhile waits."""
    running = cluster(failure(FailureKind.VANISHING, 100, lasts=100))
    first = pipe(running).job_id
    running.advance_to(150)
    assert running.jobs == {}
    assert running.slots_free == running.slots_total
    running.advance_to(201)
    assert pipe(running).job_id != first
    assert pipe(running).tasks["source"].lag == pytest.approx(101 * RATE)


def test_random_failures_follow_from_the_seed() -> None:
    """About as many as the mean time between them says, in order, the same for the same seed."""
    chances = [RandomFailures(what=FailureKind.JOB, every=timedelta(hours=1))]
    week = timedelta(days=7)
    drawn = planned((), chances, seed=1, until=week)
    assert drawn == planned((), chances, seed=1, until=week)
    assert drawn != planned((), chances, seed=2, until=week)
    assert 120 < len(drawn) < 220
    assert list(drawn) == sorted(drawn, key=lambda each: each.at)
