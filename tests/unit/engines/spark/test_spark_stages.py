"""How the stages of a batch are laid out."""

from __future__ import annotations

from datetime import timedelta

from headgate.engines.spark.application import StageRun
from headgate.engines.spark.stages import MOST, folded
from headgate.model.micro_batch import StageWork


def run(number: int, *, job: int = 0, tasks: int = 4, ms: int = 100, shuffle: bool = False) -> StageRun:
    """Give a stage as it ran."""
    return StageRun(job=job, id=number, tasks=tasks, task_time=timedelta(milliseconds=ms), reads_shuffle=shuffle)


def work(tasks: int, ms: int) -> StageWork:
    """Give the work of a stage."""
    return StageWork(tasks=tasks, task_time=timedelta(milliseconds=ms))


def test_stages_stand_in_the_order_in_which_they_ran() -> None:
    """Whatever order they are listed in."""
    assert folded([run(8, tasks=2, ms=50, shuffle=True), run(7, tasks=8)]) == (work(8, 100), work(2, 50))


def test_reads_of_one_job_run_beside_each_other() -> None:
    """A join reads both sides on whatever cores are free: one pool of tasks."""
    join = [run(1, tasks=4, ms=100), run(2, tasks=6, ms=300), run(3, tasks=2, ms=50, shuffle=True)]
    assert folded(join) == (work(10, 400), work(2, 50))


def test_jobs_run_one_after_the_other() -> None:
    """A sink that runs two actions reads twice, and has the waves of both."""
    assert folded([run(1, job=0), run(2, job=1)]) == (work(4, 100), work(4, 100))


def test_more_stages_than_are_told_apart_count_to_the_last() -> None:
    """No work is lost."""
    many = folded([run(number, job=number) for number in range(MOST + 3)])
    assert len(many) == MOST
    assert many[-1] == work(4, 400)


def test_a_batch_without_stages_has_none() -> None:
    """There may have been nothing to do."""
    assert folded([]) == ()
