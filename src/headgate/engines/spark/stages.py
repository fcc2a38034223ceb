"""The stages of a micro-batch, laid out so that they are the same from batch to batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from itertools import groupby

from headgate.engines.spark.application import StageRun
from headgate.model.micro_batch import StageWork

MOST = 8
"""Stages that are told apart; the work of those after them counts to the last."""


def folded(runs: Iterable[StageRun]) -> tuple[StageWork, ...]:
    """
    Give the work of a batch's stages, in the order in which they ran.

    The stages of one job that read no shuffle run beside each other, on whatever cores are free: they are one stage.
    """
    ordered = sorted(runs, key=lambda run: (run.job, run.reads_shuffle, run.id))
    stages = [_together(group) for group in _beside(ordered)]
    return (*stages[: MOST - 1], *([_in_turn(stages[MOST - 1 :])] if len(stages) >= MOST else []))


def _beside(runs: list[StageRun]) -> Iterator[list[StageRun]]:
    for _, group in groupby(runs, key=lambda run: (run.job, run.id if run.reads_shuffle else -1)):
        yield list(group)


def _together(runs: list[StageRun]) -> StageWork:
    return StageWork(
        tasks=sum(run.tasks for run in runs), task_time=sum((run.task_time for run in runs), start=timedelta())
    )


def _in_turn(stages: list[StageWork]) -> StageWork:
    return StageWork(
        tasks=max(stage.tasks for stage in stages),
        task_time=sum((stage.task_time for stage in stages), start=timedelta()),
    )
