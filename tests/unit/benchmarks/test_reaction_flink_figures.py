"""Reactions on real Flink: what is read off the looks at a job."""

from __future__ import annotations

import pytest
from benchmarks.reaction_flink_figures import (
    Look,
    Step,
    answered,
    ask_s,
    drained_s,
    granting_s,
    most_lag,
    optimum_s,
    rescales,
)


def look(at_s: float, asked: int, ran: int, *, runs: bool = True, lag: int = 0) -> Look:
    """Return a look at a job of which only the aggregation is ever rescaled."""
    return Look(at_s=at_s, asked=(1, 1, asked, 1), ran=(1, 1, ran, 1), runs=runs, lag=lag)


def up(*looks: Look) -> Step:
    """Return a step to a load that needs four subtasks."""
    return Step(per_s=1600, looks=looks)


BY_SCRIPT = up(
    look(-1, 1, 1),
    look(0.1, 4, 1, lag=160),
    look(1.7, 4, 1, runs=False, lag=1500),
    look(2.2, 4, 4, lag=2600),
    look(9, 4, 4, lag=700),
    look(70, 4, 4),
)
BY_WINDOW = up(
    look(-3, 1, 1),
    look(8, 2, 1, lag=7000),
    look(10, 2, 2, lag=9000),
    look(53, 4, 2, lag=20000),
    look(55, 4, 4, lag=21000),
    look(75, 4, 4, lag=10),
)


def test_a_script_is_right_at_once_and_waits_for_the_cluster() -> None:
    """From the step on: asked at 0.1, running at 2.2, and nothing else happens."""
    assert (ask_s(BY_SCRIPT), optimum_s(BY_SCRIPT)) == (0.1, 2.2)
    assert granting_s(BY_SCRIPT) == pytest.approx(2.1)
    assert rescales(BY_SCRIPT) == 1


def test_a_wait_for_the_cluster_counts_at_each_rescale_until_the_right_one() -> None:
    """Two of two seconds each; the 43 between them were somebody else's."""
    assert (ask_s(BY_WINDOW), optimum_s(BY_WINDOW), rescales(BY_WINDOW)) == (8, 55, 2)
    assert granting_s(BY_WINDOW) == pytest.approx(4)


def test_a_backlog_is_gone_when_less_than_half_a_second_of_load_waits_for_the_last_time() -> None:
    """800 records, of 1,600 a second; what waited before that is the most."""
    assert drained_s(BY_SCRIPT) == 9
    assert (drained_s(BY_WINDOW), most_lag(BY_WINDOW)) == (75, 21000)
    assert drained_s(up(look(0, 1, 1), look(5, 1, 1, lag=799))) == 0
    assert drained_s(up(look(0, 1, 1), look(5, 1, 1, lag=801))) is None


def test_a_right_size_that_is_left_again_is_none() -> None:
    """It counts from when it runs to stay; a restart of the same size begins it anew."""
    flapped = up(look(0, 1, 1), look(2, 4, 4), look(9, 5, 4), look(12, 5, 5))
    assert (optimum_s(flapped), rescales(flapped)) == (None, 2)
    back = up(*flapped.looks, look(20, 4, 4))
    assert (optimum_s(back), rescales(back)) == (20, 3)
    failed_over = up(look(0, 4, 4), look(3, 4, 4, runs=False), look(6, 4, 4))
    assert (optimum_s(failed_over), rescales(failed_over)) == (6, 0)


def test_what_was_never_asked_for_has_no_instant() -> None:
    """Also where the requirements changed before the step already."""
    assert ask_s(up(look(-1, 1, 1), look(240, 1, 1))) is None
    assert optimum_s(up(look(-1, 1, 1), look(240, 1, 1))) is None


def test_a_step_is_answered_once_all_has_been_well_for_long_enough() -> None:
    """Both the size and the backlog: 64 s after the one of the script, 61 after the other."""
    assert answered(BY_SCRIPT, hold_s=60)
    assert not answered(BY_SCRIPT, hold_s=62)
    assert not answered(up(*BY_SCRIPT.looks, look(71, 4, 4, lag=900)), hold_s=1)


def test_sizes_follow_from_the_load_by_arithmetic() -> None:
    """400/s keep the aggregation 0.6 busy, 1,600/s keep it 2.4 busy; 70 % is aimed at."""
    assert (Step(per_s=400, looks=()).wanted, up().wanted) == (1, 4)
