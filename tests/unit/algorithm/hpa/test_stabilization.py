"""The stabilization windows: what was recommended lately holds what is recommended now."""

from __future__ import annotations

import pytest

from headgate.algorithm.hpa.stabilization import Recommended, Stabilization, stabilized

LONG_AGO = -1000.0


def recommended(*replicas: int, every_s: float = 15.0) -> list[Recommended]:
    """Give recommendations of a quarter of a minute each, the last one at 0."""
    return [Recommended((place - len(replicas) + 1) * every_s, each) for place, each in enumerate(replicas)]


def test_a_job_shrinks_to_the_most_that_was_recommended() -> None:
    """10 run; of 9, 5, 7 and 3 in the last minute it is 9."""
    windows = Stabilization(scale_down_s=60)
    assert stabilized(10, recommended(9, 5, 7, 3), windows, since_s=LONG_AGO) == 9


def test_what_is_as_old_as_the_window_counts_no_more() -> None:
    """9 was recommended 45 s ago: a window of 45 s begins just after it."""
    assert stabilized(10, recommended(9, 5, 7, 3), Stabilization(scale_down_s=45), since_s=LONG_AGO) == 7


def test_growth_does_not_wait_by_default() -> None:
    """Kubernetes' default: five minutes down, none up."""
    assert stabilized(4, recommended(2, 2, 8), Stabilization(), since_s=LONG_AGO) == 8


def test_growth_waits_for_the_least_that_was_recommended_where_told() -> None:
    """4 run; of 6, 5, 8 it is 5, and with a 3 among them none."""
    windows = Stabilization(scale_up_s=60)
    assert stabilized(4, recommended(6, 5, 8), windows, since_s=LONG_AGO) == 5
    assert stabilized(4, recommended(6, 3, 8), windows, since_s=LONG_AGO) == 4


def test_without_windows_the_latest_is_done() -> None:
    """Whatever was before."""
    assert stabilized(4, recommended(9, 9, 2), Stabilization(scale_down_s=0), since_s=LONG_AGO) == 2


@pytest.mark.parametrize(("since_s", "replicas"), [(-299.0, 10), (-300.0, 3), (-301.0, 3)])
def test_what_runs_counts_until_the_samples_span_the_window(since_s: float, replicas: int) -> None:
    """Nobody remembers more than the samples tell: as after a start of Kubernetes' controller, the job waits."""
    assert stabilized(10, recommended(3, 3, 3), Stabilization(), since_s=since_s) == replicas


def test_an_earlier_wish_to_grow_is_not_made_up_for() -> None:
    """4 run; 9 was recommended a while ago, 3 is now: it stays, and grows no more."""
    assert stabilized(4, recommended(9, 3), Stabilization(), since_s=LONG_AGO) == 4
