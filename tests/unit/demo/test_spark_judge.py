"""The judge of the Spark demo on timelines made by hand: right, wrong, astray, swinging, unseen."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from headgate.demo.draw import Phase
from headgate.demo.spark.draw import EXECUTORS, SparkDraw
from headgate.demo.spark.judge import SparkVerdict, judge_spark
from headgate.demo.spark.progress import Batch
from headgate.demo.spark.verdicts import spark_summary, spark_table
from headgate.demo.timeline import Observation

EPOCH = datetime(2026, 1, 31, 12, tzinfo=UTC)
LENGTH = timedelta(seconds=60)
WORKLOAD = SparkDraw(
    seed=0,
    row_ms=5,
    phases=(
        Phase(title="low", rate_per_s=150),
        Phase(title="high", rate_per_s=300),
        Phase(title="low again", rate_per_s=150),
    ),
)
"""Two, three and two executors."""


def judged(executors_at: Callable[[int], int]) -> tuple[SparkVerdict, ...]:
    """Judge phases of a minute, seen once a second from 15 s before the first."""
    timeline = [
        Observation(at_s=float(at), parallelism={EXECUTORS: executors_at(at)}, lag_records=float(at))
        for at in range(-15, 180)
    ]
    batches = [
        Batch(ended_at=EPOCH + timedelta(seconds=at), duration_s=at / 10, rows=1, taken=at) for at in range(1, 180, 4)
    ]
    return judge_spark(WORKLOAD, timeline, batches, epoch=EPOCH, phase=LENGTH)


def perfect(at: int) -> int:
    """Be right 20 s after each step; all four executors are there at first."""
    return 4 if at < 20 else 2 if at < 80 else 3 if at < 140 else 2


def test_an_application_that_goes_straight_to_its_optimum_passes() -> None:
    """Each phase shows what was wanted and reached, after how long, in how many changes."""
    verdicts = judged(perfect)
    assert all(verdict.passed for verdict in verdicts)
    assert [verdict.wanted for verdict in verdicts] == [verdict.reached for verdict in verdicts] == [2, 3, 2]
    assert [verdict.settled_after_s for verdict in verdicts] == [20, 20, 20]
    assert [verdict.changes for verdict in verdicts] == [1, 1, 1]


def test_batches_and_waiting_rows_are_told_by_phase() -> None:
    """The slowest but 5 % of its batches, and what waited at its end."""
    verdicts = judged(perfect)
    assert [verdict.batch_p95_s for verdict in verdicts] == pytest.approx([5.7, 11.7, 17.7])
    assert [verdict.lag_records for verdict in verdicts] == [59, 119, 179]


def test_who_does_nothing_fails() -> None:
    """All executors all the time is no optimum, and was never right."""
    verdicts = judged(lambda _: 4)
    assert not any(verdict.passed for verdict in verdicts)
    assert [verdict.settled_after_s for verdict in verdicts] == [None, None, None]


def test_going_past_the_optimum_under_a_low_load_is_astray() -> None:
    """From four to one and back to two: it ends right, but the first change was wrong."""
    verdict = judged(lambda at: 1 if 10 <= at < 30 else perfect(at))[0]
    assert verdict.reached == verdict.wanted
    assert not verdict.passed


def test_catching_up_with_more_is_allowed_once_after_a_rise() -> None:
    """Four executors for a while, then the three that are needed; twice would be a flap."""
    assert judged(lambda at: 4 if 70 <= at < 95 else perfect(at))[1].passed
    assert not judged(lambda at: 4 if 70 <= at < 80 or 90 <= at < 100 else perfect(at))[1].passed


def test_a_change_at_the_very_end_is_no_settling() -> None:
    """What is reached has to be held for 8 s."""
    verdict = judged(lambda at: 3 if at == 57 else perfect(at))[0]
    assert verdict.reached is None
    assert not verdict.passed


def test_what_nobody_saw_does_not_pass() -> None:
    """An application that could not be looked at."""
    verdicts = judge_spark(WORKLOAD, [], [], epoch=EPOCH, phase=LENGTH)
    assert not any(verdict.passed for verdict in verdicts)
    assert verdicts[0].batch_p95_s is None


def printed(verdicts: tuple[SparkVerdict, ...], *, dry_run: bool = False) -> str:
    """Give the end of the demo as it is printed."""
    console = Console(file=io.StringIO(), width=120)
    console.print(spark_table(verdicts, WORKLOAD), spark_summary(verdicts, dry_run=dry_run))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_table_tells_everything_of_a_phase() -> None:
    """In one line, and the formula below."""
    said = printed(judged(perfect))
    line = next(line for line in said.splitlines() if "high" in line)
    assert line.split() == ["high,", "300/s", "3", "3", "20.0", "s", "11.7", "s", "119", "1", "passed"]
    assert "rows x 5 ms in ceil(12/n) waves" in said
    assert "PASSED: the application had the executors it needed in all 3 phases." in said


def test_the_summary_says_what_went_wrong() -> None:
    """Too many executors, a way astray, or a dry run that was not to change anything."""
    assert "FAILED: in 3 of 3 phases" in printed(judged(lambda _: 4))
    assert "right for a dry run" in printed(judged(lambda _: 4), dry_run=True)
    astray = printed(judged(lambda at: 1 if 10 <= at < 30 else perfect(at)))
    assert "went astray" in astray
    assert "2, astray" in astray
