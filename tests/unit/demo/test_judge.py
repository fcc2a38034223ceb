"""The judge on timelines made by hand: right, wrong, late, swinging, unseen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta

from headgate.demo.draw import Draw, Phase
from headgate.demo.judge import PhaseVerdict, judge
from headgate.demo.loadjob import Stage
from headgate.demo.timeline import Observation

WORKLOAD = Draw(
    seed=0,
    # 1.5, 3.5 and 1.5 subtasks busy for 70 % of the time.
    stages=(Stage(name="count", cost_us=10_000),),
    phases=(
        Phase(title="low", rate_per_s=105),
        Phase(title="high", rate_per_s=245),
        Phase(title="low again", rate_per_s=105),
    ),
    start=1,
)
LENGTH = timedelta(seconds=60)


def running(count: int) -> Mapping[str, int]:
    """Give the whole job's parallelism: source and sink have the one subtask that they need."""
    return {"source": 1, "count": count, "sink": 1}


def seen(count_at: Callable[[int], int]) -> list[Observation]:
    """Give one observation a second, from five seconds before the first phase to the end of the last."""
    return [Observation(at_s=float(at), parallelism=running(count_at(at))) for at in range(-5, 180)]


def perfect(at: int) -> int:
    """Be right 25 s after each step."""
    return 1 if at < 25 else 2 if at < 85 else 4 if at < 145 else 2


def judged(timeline: list[Observation]) -> tuple[PhaseVerdict, ...]:
    """Judge phases of a minute."""
    return judge(WORKLOAD, timeline, LENGTH)


def test_the_optimum_is_load_times_cost_by_target_rounded_up() -> None:
    """105 records of 10 ms are 1.05 s of work a second: 1.5 subtasks that are busy for 70 %, so 2."""
    assert [WORKLOAD.optimum(phase)["count"] for phase in WORKLOAD.phases] == [2, 4, 2]


def test_a_job_that_is_right_at_each_phases_end_passes() -> None:
    """Each phase shows what was reached, after how long, and how many rescales it took."""
    verdicts = judged(seen(perfect))
    assert all(verdict.passed for verdict in verdicts)
    assert [verdict.rescales for verdict in verdicts] == [1, 1, 1]
    assert [verdict.settled_after_s for verdict in verdicts] == [25, 25, 25]


def test_a_job_that_nobody_changes_fails_in_every_phase() -> None:
    """This is what a dry run looks like."""
    verdicts = judged(seen(lambda _: 1))
    assert not any(verdict.passed for verdict in verdicts)
    assert [verdict.rescales for verdict in verdicts] == [0, 0, 0]
    assert {verdict.settled_after_s for verdict in verdicts} == {None}
    assert [vertex.reached for vertex in verdicts[0].vertices] == [1, 1, 1]


def test_a_job_that_keeps_the_first_answer_fails_where_it_is_wrong_alone() -> None:
    """The verdicts tell the phases apart."""
    verdicts = judged(seen(lambda at: 1 if at < 20 else 2))
    assert [verdict.passed for verdict in verdicts] == [True, False, True]
    assert [verdict.settled_after_s for verdict in verdicts] == [20, None, 0]


def test_a_job_that_is_right_only_in_the_last_seconds_is_too_late() -> None:
    """Ten seconds at the end of the phase have to be right; 52 s after its begin is too late in 60 s."""
    verdicts = judged(seen(lambda at: perfect(at) if not 60 <= at < 112 else 2))
    assert [verdict.passed for verdict in verdicts] == [True, False, True]
    assert verdicts[1].settled_after_s == 52
    assert {vertex.name: vertex.reached for vertex in verdicts[1].vertices} == {"source": 1, "count": None, "sink": 1}


def test_a_job_that_swings_fails_and_its_rescales_are_counted() -> None:
    """It is right now and then, but does not stay."""
    verdicts = judged(seen(lambda at: 2 if at // 5 % 2 else 1))
    assert not verdicts[0].passed
    assert verdicts[0].rescales == 12


def test_a_detour_passes_but_shows() -> None:
    """Three for a while on the way from two to four: one rescale more, settled when four runs."""
    verdicts = judged(seen(lambda at: 3 if 70 <= at < 95 else 4 if 95 <= at < 120 else perfect(at)))
    assert verdicts[1].passed
    assert (verdicts[1].rescales, verdicts[1].settled_after_s) == (2, 35)


def test_one_wrong_vertex_fails_the_phase() -> None:
    """A source with a subtask too many is not the optimum either."""
    timeline = [replace(each, parallelism={**each.parallelism, "source": 2}) for each in seen(perfect)]
    verdict = judged(timeline)[0]
    assert not verdict.passed
    assert [vertex.name for vertex in verdict.vertices if not vertex.passed] == ["source"]


def test_two_vertices_changed_at_once_are_one_rescale() -> None:
    """What counts is how often the job was interrupted."""
    timeline = [
        replace(each, parallelism={**each.parallelism, "sink": each.parallelism["count"]}) for each in seen(perfect)
    ]
    assert [verdict.rescales for verdict in judged(timeline)] == [1, 1, 1]


def test_what_nobody_saw_does_not_count_as_right() -> None:
    """Flink that does not answer in a phase's last ten seconds leaves that phase without an answer."""
    verdicts = judged([each for each in seen(perfect) if not 110 <= each.at_s < 120])
    assert [verdict.passed for verdict in verdicts] == [True, False, True]
    assert not any(verdict.passed for verdict in judged([]))


def test_the_largest_lag_is_that_of_the_phase() -> None:
    """A backlog from one phase is not held against another."""
    timeline = [replace(each, lag_records=900.0 if each.at_s == 70 else 3.0) for each in seen(perfect)]
    assert [verdict.largest_lag_records for verdict in judged(timeline)] == [3, 900, 3]
