"""The figures of the comparison of lags, on looks made by hand."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.kafka_lag_figures import Run
from benchmarks.kafka_lag_setting import COURSE, SeededLoad

STEP_S = SeededLoad.of(1).phase_s
DOWN_S = STEP_S + COURSE.high_s


def run(*changes: tuple[float, int], lag: float = 0) -> Run:
    """Give a run that is looked at each second, at what was last named."""
    times: Sequence[float] = range(-10, round(DOWN_S + COURSE.low_s))
    looks = [[at, [size for when, size in changes if when <= at][-1], 1.0, lag if at > STEP_S else 0] for at in times]
    return Run.of(1, looks)


def test_a_run_as_it_should_be() -> None:
    """One step up to enough, one down: two rescales, none of them needless or wrong."""
    found = run((-10, 1), (STEP_S + 8, 5), (DOWN_S + 20, 1), lag=4000)

    assert found.enough_after_s is not None
    assert 8 <= found.enough_after_s < 9.5
    assert found.down_after_s is not None
    assert 20 <= found.down_after_s < 21.5
    assert (found.rescales, found.needless_growths, found.wrong_shrinks, found.most_lag) == (2, 0, 0, 4000)


def test_doubling_counts_until_it_is_enough() -> None:
    """Three steps up are three rescales; what is beyond the size for the load is needless."""
    found = run((-10, 1), (STEP_S + 5, 2), (STEP_S + 20, 4), (STEP_S + 40, 8))

    assert found.enough_after_s is not None
    assert found.enough_after_s > 19
    assert (found.rescales, found.needless_growths) == (3, 0)
    assert run((-10, 1), (STEP_S + 5, 5), (STEP_S + 20, 8)).needless_growths == 1


def test_a_shrink_under_load_is_wrong() -> None:
    """It is seen, and so is a job that never comes to what it needs."""
    assert run((-10, 1), (STEP_S + 5, 5), (STEP_S + 50, 2)).wrong_shrinks == 1
    assert run((-10, 1)).enough_after_s is None
