"""The load of the Spark demo: it can be repeated, and each phase has one clear answer."""

from __future__ import annotations

import itertools

import pytest

from headgate.demo.draw import Phase
from headgate.demo.spark.draw import EXECUTORS, MOST_EXECUTORS, SparkDraw, draw_spark
from headgate.engines.spark.source.profile import parse_profile

DRAWN = [draw_spark(seed) for seed in range(200)]


def answers(workload: SparkDraw) -> list[int]:
    """Give the executors that each phase needs."""
    return [workload.optimum(phase)[EXECUTORS] for phase in workload.phases]


def test_a_seed_gives_the_same_load_again() -> None:
    """So a run can be repeated."""
    assert draw_spark(7) == draw_spark(7) != draw_spark(8)


def test_few_executors_are_enough_when_the_load_is_low_and_more_are_needed_when_it_is_high() -> None:
    """All answers occur."""
    lows = {(answers(workload)[0], answers(workload)[2]) for workload in DRAWN}
    assert lows == {(1, 1), (1, 2), (2, 1), (2, 2)}
    assert {answers(workload)[1] for workload in DRAWN} == {3, 4}


def test_no_phase_is_at_an_edge() -> None:
    """A tenth more or less of load has the same answer."""
    for workload in DRAWN:
        for phase in workload.phases:
            nearby = [Phase(title="", rate_per_s=phase.rate_per_s * factor) for factor in (0.95, 1.05)]
            assert {workload.optimum(each)[EXECUTORS] for each in nearby} == {workload.optimum(phase)[EXECUTORS]}
            assert phase.rate_per_s < workload.rate_of(MOST_EXECUTORS)


def test_one_executor_has_time_for_what_it_can_do() -> None:
    """Of 4 s a batch takes 0.5 s, each of 12 waves 0.06 s: 2.78 s for rows of 5 ms are 556 of them, 139 a second."""
    workload = SparkDraw(seed=0, row_ms=5, phases=())
    assert workload.rate_of(1) == pytest.approx(139 * 0.7)


def test_the_source_replays_what_was_drawn() -> None:
    """Each phase brings its rate times its length, the slight swing included; the lead brings little."""
    workload = draw_spark(3)
    load = parse_profile(workload.profile(lead_s=15, phase_s=52))
    begins = [0, 15, 67, 119, 171]
    came = [load.rows_until(end) - load.rows_until(begin) for begin, end in itertools.pairwise(begins)]
    assert came[1:] == pytest.approx([phase.rate_per_s * 52 for phase in workload.phases], rel=0.001)
    assert 0 < came[0] < workload.phases[0].rate_per_s * 15 / 4
