"""Whose fault a sick job is, where it goes back to, and what is remembered of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from headgate.algorithm.rollback import (
    bounds_of,
    digest_of,
    foreign_change,
    has_passed,
    is_paused,
    is_too_late,
    merged_bounds,
    run_of,
    sick_run,
    target_of,
    unexpired,
)
from headgate.model.identity import VertexId
from headgate.model.measures import JobStatus
from headgate.model.redeploy import Launch, Redeploy, Start, successor_of, way_back_of
from headgate.model.rollback import Aftermath, JobFailure, ParallelismBound, Rollback, Run, Side, Trial
from headgate.model.samples import EngineSettings, JobSample
from headgate.options.rollback import RollbackOptions, RollbackTarget
from headgate.testing.builders import at, chain, sample

SOURCE, AGG = VertexId("source"), VertexId("agg")
FIRST, LAST, SICK = {"source": 1, "agg": 1}, {"source": 1, "agg": 4}, {"source": 1, "agg": 8}
OBSERVATION = timedelta(minutes=15)
OPTIONS = RollbackOptions()


def running(parallelism: Mapping[str, int], **memory: str) -> JobSample:
    """Return a sample of a job that runs so."""
    return sample(chain(parallelism), settings=EngineSettings(memory=memory))


def run(parallelism: Mapping[str, int], **memory: str) -> Run:
    """Return how a job ran."""
    return run_of(running(parallelism, **memory), at(-60))


def trial(before: Run | None = None, after: int = 8, **known: object) -> Trial:
    """Return a rescale of agg."""
    made = Trial(decision_id="d", began_at=at(0), before=before or run(LAST), after={AGG: after}, started_at=at(-60))
    return replace(made, **known)  # type: ignore[arg-type]


def failing(*seconds: float) -> tuple[JobFailure, ...]:
    """Return a failure at each of these seconds."""
    return tuple(JobFailure(at=at(second), text="x") for second in seconds)


def change(of: Trial, seen: JobSample | None, *, job_id: str = "j1", started_at: datetime | None = None) -> str:
    """Return what else has changed."""
    return foreign_change(of, job_id, started_at or at(-60), seen)


@pytest.mark.parametrize("after", [2, 8])
@pytest.mark.parametrize("agg", [1, 3, 4])
def test_what_runs_on_the_way_or_at_fewer_is_ours(after: int, agg: int) -> None:
    """An engine takes what slots there are: fewer than either where TaskManagers die."""
    assert change(trial(after=after), running({"source": 1, "agg": agg})) == ""


@pytest.mark.parametrize(("after", "agg"), [(2, 5), (8, 9)])
def test_what_runs_beyond_is_somebody_elses(after: int, agg: int) -> None:
    """Nobody here has asked for that."""
    assert change(trial(after=after), running({"source": 1, "agg": agg})) == "the parallelism of agg was changed"


def test_growth_of_another_vertex_is_somebody_elses_and_its_shrinking_a_lack_of_slots() -> None:
    """An engine never gives more than what was asked for."""
    wide = trial(run({"source": 2, "agg": 4}))
    assert change(wide, running({"source": 3, "agg": 8})) == "the parallelism of source was changed"
    assert change(wide, running({"source": 1, "agg": 8})) == ""


def test_another_job_or_graph_or_cluster_is_not_what_was_rescaled() -> None:
    """Each is told apart; a job that does not run shows no graph."""
    assert change(trial(), None, job_id="j2") == "the job was submitted anew"
    assert change(trial(), None, started_at=at(30)) == "its JobManager was restarted"
    assert change(trial(), running({**SICK, "sink": 1})) == "its graph has changed"
    less = trial(run(LAST, size="2 gb"))
    assert change(less, running(SICK, size="1 gb")) == "the memory settings of its cluster have changed"
    assert change(trial(), None) == ""


def test_what_is_not_known_has_not_changed() -> None:
    """An engine that tells no instants and no settings is believed all the same."""
    unknown = trial(replace(run(LAST), settings=""), started_at=None)
    assert change(unknown, running(SICK, size="1 gb")) == ""
    assert digest_of(EngineSettings()) == ""


def test_more_memory_of_ours_is_no_change_of_somebody_else() -> None:
    """It changes the settings, and may restart what manages the job."""
    more = trial(run(LAST, size="1 gb"), memory_raised_at=at(10))
    assert change(more, running(SICK, size="2 gb"), started_at=at(20)) == ""


def test_a_redeploy_of_ours_is_told_by_its_job_id() -> None:
    """The other job may have another graph: operators are chained otherwise with another parallelism."""
    start = Start(parallelism=1)
    redeploy = Redeploy(launch=Launch(jar="j"), successor=successor_of("j1"), after=start, before=start)
    replaced = trial(redeploy=redeploy, job_id=redeploy.successor, started_at=None)
    assert change(replaced, running({"all": 8}), job_id=redeploy.successor) == ""
    assert change(replaced, running(LAST), job_id="j1") == "the job was submitted anew"


def test_a_job_that_falls_ill_long_after_its_rescale_is_not_sick_by_it() -> None:
    """What counts is when it began, not when it was noticed; a rescale that was never reached has no such time."""
    reached = trial(reached_at=at(0))
    aftermath = Aftermath(trial=reached, now=at(3_600), status=JobStatus.RESTARTING, down_since=at(1_000))
    assert is_too_late(aftermath, OPTIONS)
    assert not is_too_late(replace(aftermath, down_since=at(800)), OPTIONS)
    assert not is_too_late(replace(aftermath, failures=failing(800)), OPTIONS)
    assert not is_too_late(replace(aftermath, trial=trial()), OPTIONS)


def test_a_failure_that_the_job_has_got_over_does_not_make_it_ill_ever_since() -> None:
    """After one there was none for as long as failures count; a loop is followed back to where it began."""
    outage = Aftermath(trial=trial(reached_at=at(30)), now=at(18_000), status=JobStatus.RESTARTING)
    assert is_too_late(replace(outage, failures=failing(20, 17_910, 17_970)), OPTIONS)
    assert not is_too_late(replace(outage, failures=failing(*range(20, 18_000, 500))), OPTIONS)


def test_a_job_that_nobody_saw_run_as_wanted_may_have_run_so() -> None:
    """Headgate was away, and hours later the job fails: it is not by its rescale; without failures it did not come."""
    outage = Aftermath(trial=trial(), now=at(18_000), status=JobStatus.RESTARTING)
    assert is_too_late(replace(outage, failures=failing(17_910, 17_970)), OPTIONS)
    assert not is_too_late(replace(outage, now=at(600), failures=failing(500)), OPTIONS)
    assert not is_too_late(outage, OPTIONS)


def test_a_rescale_is_observed_from_when_it_was_reached() -> None:
    """To the second; one that was never reached is not observed for ever."""
    assert not has_passed(trial(reached_at=at(60)), OBSERVATION, at(959))
    assert has_passed(trial(reached_at=at(60)), OBSERVATION, at(960))
    assert has_passed(trial(), OBSERVATION, at(900))


def test_the_target_is_the_last_good_run_or_the_first_one() -> None:
    """By option."""
    assert target_of(trial(), run(FIRST), RollbackTarget.LAST).parallelism == LAST
    assert target_of(trial(), run(FIRST), RollbackTarget.FIRST).parallelism == FIRST


@pytest.mark.parametrize("first", [None, run({**FIRST, "sink": 1}), run(SICK)])
def test_without_a_first_run_to_go_back_to_it_is_the_last_good_one(first: Run | None) -> None:
    """There is none, it was of another graph, or it is what makes the job sick."""
    assert target_of(trial(), first, RollbackTarget.FIRST).parallelism == LAST


def test_the_sick_run_has_what_was_wanted() -> None:
    """Whatever was reached of it."""
    assert sick_run(trial()).parallelism == SICK


def test_a_vertex_is_bound_on_the_side_that_it_came_from() -> None:
    """What grew stays below, what shrank above."""
    (grown,) = bounds_of(trial(), "sick", at(60))
    (shrunk,) = bounds_of(trial(after=2), "sick", at(60))
    assert (grown.vertex, grown.parallelism, grown.side) == (AGG, 8, Side.BELOW)
    assert (shrunk.vertex, shrunk.parallelism, shrunk.side) == (AGG, 2, Side.ABOVE)


def bound(parallelism: int, side: Side = Side.BELOW, expires: float = 60, vertex: VertexId = AGG) -> ParallelismBound:
    """Return a bound."""
    return ParallelismBound(vertex=vertex, parallelism=parallelism, side=side, expires_at=at(expires), why="sick")


def test_a_new_bound_replaces_what_it_includes() -> None:
    """A stricter one that lasts as long makes the older one superfluous; any other stands beside it."""
    assert merged_bounds((bound(8),), (bound(6, expires=90),)) == (bound(6, expires=90),)
    assert merged_bounds((bound(6),), (bound(8, expires=90),)) == (bound(6), bound(8, expires=90))
    assert merged_bounds((bound(2, Side.ABOVE),), (bound(3, Side.ABOVE),)) == (bound(3, Side.ABOVE),)
    assert len(merged_bounds((bound(8), bound(8, vertex=SOURCE)), (bound(8, Side.ABOVE),))) == 3
    assert merged_bounds((bound(8, expires=90),), (bound(6),)) == (bound(8, expires=90), bound(6))


def test_a_bound_expires_at_its_instant() -> None:
    """Not before."""
    assert unexpired((bound(8),), at(59)) == (bound(8),)
    assert unexpired((bound(8),), at(60)) == ()


def rollback(**known: object) -> Rollback:
    """Return a rollback of the job in place."""
    made = Rollback(decision_id="d", at=at(0), run=sick_run(trial()), target={AGG: 4}, why="sick")
    return replace(made, **known)  # type: ignore[arg-type]


def test_a_pause_without_a_time_ends_with_a_restart_of_the_cluster() -> None:
    """Another job, or the same one taken up anew; a rescale or a failure is none."""
    assert is_paused(rollback(), "j1", at(-60), at(10**9))
    assert is_paused(rollback(), "j1", None, at(10**9))
    assert not is_paused(rollback(), "j1", at(100), at(200))
    assert not is_paused(rollback(), "j2", at(100), at(200))


@pytest.mark.parametrize("job_id", [successor_of("j1"), way_back_of("j1", 3)])
def test_the_job_that_a_rollback_has_started_is_paused_as_well(job_id: str) -> None:
    """It is no restart of the cluster, but the rollback itself; from then on its own instant counts."""
    assert is_paused(rollback(job_id=successor_of("j1")), job_id, at(100), at(200))
    assert is_paused(rollback(started_at=at(100)), job_id, at(100), at(200))
    assert not is_paused(rollback(started_at=at(100)), job_id, at(150), at(200))


def test_a_pause_with_a_time_lasts_so_long() -> None:
    """Whatever is restarted meanwhile."""
    assert is_paused(rollback(paused_until=at(100)), "j2", None, at(99))
    assert not is_paused(rollback(paused_until=at(100)), "j1", None, at(100))
