"""The input of jobs, from that of their sources."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from headgate.algorithm.arrival.estimate import Arrivals
from headgate.algorithm.arrival.jobs import of_jobs
from headgate.model.arrival import Arrival

NAN, INF = float("nan"), float("inf")


def known(*sources: tuple[float, float, float, bool]) -> Arrivals:
    """Give sources by rate, error, time since the change and whether there was one."""
    rate, error, lasted_s, changed = zip(*sources, strict=True)
    return Arrivals(
        rate=np.array(rate),
        error=np.array(error),
        lasted_s=np.array(lasted_s),
        changed=np.array(changed, dtype=np.bool_),
        rising=np.zeros(len(rate), dtype=np.bool_),
        saturated=np.zeros(len(rate), dtype=np.bool_),
        means=np.full((len(rate), 1), NAN),
        means_s=np.zeros((len(rate), 1)),
    )


def one_job(*sources: tuple[float, float, float, bool]) -> Arrival:
    """Put sources together as one job."""
    return of_jobs(known(*sources), np.zeros(len(sources), dtype=np.int64), 1).of_job(0)


def test_sources_add_up() -> None:
    """300/s and 100/s; errors of 30 and 40 are 50 together, an eighth."""
    assert one_job((300.0, 30.0, 60.0, False), (100.0, 40.0, 60.0, False)) == Arrival(
        per_s=400.0, error=0.125, lasted_s=60.0, changed=False
    )


def test_the_latest_change_of_any_source_is_that_of_the_job() -> None:
    """Before it the job had another input."""
    together = one_job((300.0, 3.0, 600.0, False), (100.0, 3.0, 8.0, True), (100.0, 3.0, 90.0, True))

    assert together.lasted_s == 8.0
    assert together.changed


def test_one_source_of_which_nothing_is_known_leaves_the_job_unknown() -> None:
    """Part of an input is none."""
    assert one_job((300.0, 30.0, 60.0, False), (NAN, INF, 2.0, True)) == Arrival(
        per_s=None, error=None, lasted_s=2.0, changed=True
    )


def test_a_rate_may_be_known_without_its_error() -> None:
    """Of too few samples nobody can tell how much it varies."""
    assert one_job((300.0, INF, 8.0, False)) == Arrival(per_s=300.0, error=None, lasted_s=8.0, changed=False)


def test_nothing_that_comes_in_surely_is_known_exactly() -> None:
    """But nothing on the average, of which one error is not known to be none, is not known in shares of it."""
    assert one_job((0.0, 0.0, 60.0, False)).error == 0.0
    assert one_job((0.0, 5.0, 60.0, False)).error is None


@pytest.mark.parametrize("place", [0, 2])
def test_jobs_are_told_apart(place: int) -> None:
    """Also where their sources stand mixed, and where a job has none at all: nothing came in for ever."""
    sources = known((300.0, 30.0, 60.0, False), (7.0, 0.0, 4.0, True), (100.0, 40.0, 60.0, False))

    jobs = of_jobs(sources, np.array([2, 0, 2]), 3)

    assert jobs.of_job(1) == Arrival(per_s=0.0, error=0.0, lasted_s=INF, changed=False)
    assert jobs.of_job(place).per_s == {0: 7.0, 2: 400.0}[place]


def test_the_means_of_sources_add_up_over_the_shortest_of_their_times() -> None:
    """What one of them does not know, the job does not know; a job that has a rising source rises."""
    sources = replace(
        known((300.0, 3.0, 8.0, True), (100.0, 3.0, 8.0, True)),
        rising=np.array([False, True]),
        means=np.array([[300.0, 200.0, 150.0], [100.0, 100.0, NAN]]),
        means_s=np.array([[2.0, 4.0, 8.0], [2.0, 3.9, 8.0]]),
    )

    job = of_jobs(sources, np.array([0, 0]), 1).of_job(0)

    assert job.means == ((2.0, 400.0), (3.9, 300.0))
    assert job.rising


def test_a_job_is_told_alike_beside_one_with_a_longer_past() -> None:
    """Else what is recorded of it would not come out again when it is decided anew alone."""
    alone = replace(known((400.0, 3.0, 8.0, True)), means=np.array([[400.0, 300.0]]), means_s=np.array([[2.0, 4.0]]))
    beside = replace(
        known((400.0, 3.0, 8.0, True), (9.0, 1.0, 8.0, True)),
        means=np.array([[400.0, 300.0, 300.0], [9.0, 9.0, 9.0]]),
        means_s=np.array([[2.0, 4.0, 4.0], [2.0, 4.0, 8.0]]),
    )

    assert of_jobs(alone, np.array([0]), 1).of_job(0) == of_jobs(beside, np.array([0, 1]), 2).of_job(0)
