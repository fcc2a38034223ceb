"""The demo's workloads: whatever the seed, each phase has one right answer and the job has to move to get there."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from headgate.demo.draw import MAX_PARALLELISM, MAX_RECORDS_PER_S, Draw, draw, is_clear

SEEDS = range(60)
SLOTS = 8


@functools.cache
def workloads() -> tuple[Draw, ...]:
    """Give the workloads of some seeds."""
    return tuple(map(draw, SEEDS))


def answers(workload: Draw) -> list[dict[str, int]]:
    """Give the right parallelism of every stage in each phase."""
    return [{name: math.ceil(need) for name, need in workload.needs(phase).items()} for phase in workload.phases]


def busy(need: float, running: int) -> float:
    """Give the busy share of a stage that runs with so many subtasks, at a target of 70 %."""
    return 0.7 * need / running


def test_every_seed_has_one_right_answer_for_each_stage_and_phase() -> None:
    """No need is within 0.2 of a whole number, so that no measurement error changes what is right."""
    for workload in workloads():
        for phase in workload.phases:
            for need in workload.needs(phase).values():
                assert 0.2 <= need % 1 <= 0.8, workload


def test_no_stage_can_rest_one_subtask_short_of_its_answer() -> None:
    """With one subtask less it would be busier than the band's upper end of 78 %, so Headgate must notice."""
    for workload in workloads():
        for phase in workload.phases:
            for need in workload.needs(phase).values():
                assert need < 1 or busy(need, math.ceil(need) - 1) > 0.78, workload


def test_the_start_is_wrong_and_each_phase_moves_the_bottleneck_out_of_its_band() -> None:
    """The bottleneck's answer changes by two at least, and where it was before it is too busy or too idle."""
    for workload in workloads():
        name = workload.bottleneck
        right = [each[name] for each in answers(workload)]
        assert right[0] != workload.start, workload
        assert all(abs(before - after) >= 2 for before, after in itertools.pairwise(right)), workload
        for before, phase in zip([workload.start, *right], workload.phases, strict=False):
            assert not 0.62 <= busy(workload.needs(phase)[name], before) <= 0.78, workload


def test_the_load_goes_up_and_comes_down_again() -> None:
    """The second phase has the most load."""
    for workload in workloads():
        low, high, low_again = (phase.rate_per_s for phase in workload.phases)
        assert high > max(low, low_again)


def test_everything_fits_into_the_cluster_and_onto_the_machine() -> None:
    """No vertex needs more subtasks than there are slots, and the records are few enough for two cores."""
    for workload in workloads():
        assert 2 <= len(workload.stages) <= 3
        assert max(max(each.values()) for each in answers(workload)) <= MAX_PARALLELISM <= SLOTS
        assert workload.start <= SLOTS
        assert all(sum(workload.received(phase).values()) <= MAX_RECORDS_PER_S for phase in workload.phases)


def test_the_draw_and_the_job_agree_on_the_parallelism() -> None:
    """The job's own arithmetic, written apart, gives the same answers; source and sink need one subtask."""
    for workload in workloads():
        spec = workload.spec(epoch=datetime(2026, 1, 1, tzinfo=UTC), phase_length=timedelta(seconds=60))
        for phase, expected in zip(workload.phases, answers(workload), strict=True):
            assert dict(spec.analytic_parallelism(phase.rate_per_s, 0.7)) == {**expected, "source": 1, "sink": 1}


def test_the_phases_follow_each_other_from_the_epoch_on() -> None:
    """Nothing comes in before the epoch, then each phase has its rate for its length."""
    workload = draw(3)
    profile = workload.spec(epoch=datetime(2026, 1, 1, tzinfo=UTC), phase_length=timedelta(seconds=40)).profile
    seen = [profile.rate_per_s(timedelta(seconds=at)) for at in (-1, 0, 39, 40, 79, 80)]
    low, high, low_again = (phase.rate_per_s for phase in workload.phases)
    assert seen == [0, low, low, high, high, low_again]


def test_the_same_seed_gives_the_same_workload() -> None:
    """A failed run can be repeated from its printed seed."""
    assert [draw(seed) for seed in SEEDS[:10]] == list(workloads()[:10])
    assert len(set(workloads())) == len(SEEDS)


def test_starts_and_answers_differ_between_seeds() -> None:
    """Some jobs start too small, some too large; two and three stages, keyed and plain ones occur."""
    drawn = workloads()
    first = [(workload.start, answers(workload)[0][workload.bottleneck]) for workload in drawn]
    assert any(start < right for start, right in first)
    assert any(start > right for start, right in first)
    assert {len(workload.stages) for workload in drawn} == {2, 3}
    assert {stage.keyed for workload in drawn for stage in workload.stages} == {True, False}


def test_a_start_that_is_too_small_falls_behind() -> None:
    """One that reads all that comes and only lacks a reserve is left alone for a while, longer than a phase lasts."""
    for workload in workloads():
        need = workload.needs(workload.phases[0])[workload.bottleneck]
        assert workload.start > need or busy(need, workload.start) >= 1.1, workload


def test_a_start_at_the_answer_is_not_clear() -> None:
    """A job that is right from the beginning would let a Headgate that does nothing pass the first phase."""
    workload = draw(0)
    right = answers(workload)[0][workload.bottleneck]
    assert is_clear(workload)
    assert not is_clear(replace(workload, start=right))
