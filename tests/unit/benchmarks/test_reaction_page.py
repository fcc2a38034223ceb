"""Reactions compared: rows are kept and found again, and the page says what they say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.reaction_figures import Compared, dominates, overall
from benchmarks.reaction_page import BEGIN, END, PAGE, draw, rendered
from benchmarks.reaction_results import CalmRow, Results, Row, calm, compared
from benchmarks.reaction_run import FAST, POLICIES

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


CALM = [CalmRow(job=job, policy=FAST, quick=False, rescales=0) for job in range(3)]


def test_rows_are_found_again_as_they_were_kept(rows: Sequence[Row], tmp_path: Path) -> None:
    """In order; one that is measured again replaces the one before, and none is there before the first."""
    kept = compared(7, tmp_path / "some")
    assert kept.rows() == []
    kept.add(reversed(rows))
    kept.add([replace(ROW, lag_s=1)])
    assert kept.rows()[0] == replace(ROW, lag_s=1)
    assert sorted(kept.rows()[1:], key=lambda row: (row.job, row.policy)) == sorted(
        rows[1:], key=lambda row: (row.job, row.policy)
    )
    kept.forget()
    assert kept.rows() == []


def test_calm_rows_are_found_again(tmp_path: Path) -> None:
    """In a file of their own."""
    kept: Results[CalmRow] = calm(7, tmp_path)
    kept.add(CALM)
    assert kept.rows() == CALM


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


def test_the_page_says_what_was_met_and_what_not(rows: Sequence[Row]) -> None:
    """The longest window takes fewer workers, so that its lag tells nothing by itself."""
    page = rendered(rows, CALM, 1)
    assert "| rescales | at most 15, the best window's, `windowed`, 3 min | 9 | met |" in page
    assert "| the fewest of a window, `windowed`, 15 min |  | 6 |  |" in page
    asked = "at most 0.33 at equal worker-seconds"
    assert f"of `windowed`, 1 min | {asked} | 0.25, with 0.990 times the worker-seconds | met |" in page
    assert f"of `windowed`, 3 min | {asked} | 0.40, with 0.962 times the worker-seconds | **missed** |" in page
    assert f"of `windowed`, 15 min | {asked} | 0.01, with 1.250 times the worker-seconds | not equal |" in page
    assert "as with `windowed`, 1 min | at most 0.33, both | 0.25, of 3 jobs; 0.25 job by job | met |" in page
    assert "| 100% of 3; 0 rescales, at most 0 a day | met |" in page
    assert "| sine (1) |" in page
    assert "bursts" not in page
    assert "| 0 | steps, normal, 5 % | 3 rescales | 9 rescales | 5 rescales | 2 rescales |" in page


def test_the_plot_is_the_same_at_every_call(rows: Sequence[Row], tmp_path: Path) -> None:
    """So that a page that is made again differs only where a number does."""
    draw(rows, tmp_path / "one.svg")
    draw(rows, tmp_path / "other.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "other.svg").read_bytes()
    assert all(policy.partition("-")[0] in (tmp_path / "one.svg").read_text("utf-8") for policy in POLICIES)


def test_the_page_has_the_marks() -> None:
    """Between which the tables go."""
    text = PAGE.read_text(encoding="utf-8")
    assert BEGIN in text
    assert END in text
