"""Reactions compared: over which jobs, and which way is better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from benchmarks.reaction_figures import Compared, dominates, overall
from benchmarks.reaction_results import Row
from benchmarks.reaction_run import FAST

ROW = Row(
    job=0,
    policy=FAST,
    course="steps",
    arrivals="normal, 5 %",
    quick=False,
    lag_s=100,
    peak_lag_s=9.5,
    worker_s=1000,
    least_s=900,
    rescales=3,
    turns=1,
)
OTHERS = {"windowed-1": (400, 1010, 9), "windowed-3": (250, 1040, 5), "windowed-15": (9000, 800, 2)}
"""Lag-seconds, worker-seconds and rescales of the windows."""


def rows_of(job: int) -> list[Row]:
    """Return a job under every policy; the later the job, the more lag it has."""
    fast = replace(ROW, job=job, lag_s=100 + job)
    others = [
        replace(ROW, job=job, policy=policy, lag_s=lag_s + job, worker_s=worker_s, rescales=rescales)
        for policy, (lag_s, worker_s, rescales) in OTHERS.items()
    ]
    return [fast, *others]


@pytest.fixture
def rows() -> list[Row]:
    """Return three jobs, one of them of another kind."""
    return [
        replace(row, course="sine", quick=True) if row.job == 2 else row for job in range(3) for row in rows_of(job)
    ]


def test_only_jobs_under_every_policy_are_compared(rows: Sequence[Row]) -> None:
    """A series that is under way has others."""
    assert list(Compared.of(rows).jobs) == [0, 1, 2]
    assert list(Compared.of(rows[:-1]).jobs) == [0, 1]


def test_equal_workers_are_those_within_a_twentieth(rows: Sequence[Row]) -> None:
    """A window that took a fifth less is not compared."""
    jobs = Compared.of(rows)
    assert jobs.at_equal_workers("windowed-1").ratio == pytest.approx(101 / 401)
    assert jobs.at_equal_workers("windowed-1").typical_ratio == pytest.approx(102 / 402)
    assert len(jobs.at_equal_workers("windowed-15").fast) == 0


def test_the_best_window_is_chosen_job_by_job_from_those_that_were_no_dearer(rows: Sequence[Row]) -> None:
    """Here it is the second in all of them."""
    best = Compared.of(rows).against_the_best()
    assert {row.policy for row in best.other} == {"windowed-3"}
    assert best.ratio == pytest.approx(101 / 251)


def test_a_window_that_is_no_worse_in_anything_dominates(rows: Sequence[Row]) -> None:
    """Alike in all three is none."""
    jobs = Compared.of(rows)
    assert [jobs.is_dominated(policy) for policy in OTHERS] == [False, False, False]
    assert [jobs.dominates(policy) for policy in OTHERS] == [3, 3, 0]
    better = [replace(row, lag_s=50, rescales=1) if row.policy == "windowed-15" else row for row in rows]
    assert Compared.of(better).is_dominated("windowed-15")
    assert Compared.of(better).dominated("windowed-15") == 3
    assert not dominates(overall(rows), overall(rows))
