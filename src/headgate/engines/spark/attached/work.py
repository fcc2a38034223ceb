"""Which stages a batch ran, and how long their tasks took: from the driver's status store."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from itertools import takewhile
from typing import Any

from py4j.protocol import Py4JJavaError

from headgate.engines.spark.application import StageRun
from headgate.engines.spark.attached.gateway import BatchWork

_BATCH = re.compile(r"^batch = (\d+)$", re.MULTILINE)
_OVER = frozenset({"SUCCEEDED", "FAILED"})
_TASKS = 1000
"""Tasks of a stage that are looked at one by one."""


class Works:
    """
    Finds the jobs of a batch: Spark puts those of a run into one group, and a batch's number into their description.

    What it raises is Py4J's; its caller translates.
    """

    def __init__(self, context: Any, jvm: Any) -> None:
        """Take Spark's own context, and the JVM."""
        self._context = context
        self._arrays = jvm.java.util.Arrays
        self._past: dict[str, int] = {}
        """Of each run the newest job that belongs to a batch that was asked for."""

    def of(self, run_id: str, batch_id: int) -> BatchWork:
        """Give the stages of a batch that is the same as the one asked for last, or a later one."""
        newer = self._jobs(run_id, after=self._past.get(run_id, -1))
        jobs = list(takewhile(lambda job: job[1] <= batch_id, newer))
        own = [(job, data) for job, batch, data in jobs if batch == batch_id]
        complete = all(data.status().toString() in _OVER for _, data in own)
        if complete and jobs:
            self._past[run_id] = jobs[-1][0]
        stages = {stage.id: stage for job, data in reversed(own) for stage in self._stages(job, data)}
        return BatchWork(stages=tuple(stages.values()) if complete else (), complete=complete)

    def forget(self, run_id: str) -> None:
        """Drop what is remembered of a run that has ended."""
        self._past.pop(run_id, None)

    def _jobs(self, run_id: str, *, after: int) -> Iterator[tuple[int, int, Any]]:
        """Give the id, batch and data of a run's newer jobs in their order; those that are forgotten are left out."""
        # one call gives all ids: each element of the array would be one more
        text = self._arrays.toString(self._context.statusTracker().getJobIdsForGroup(run_id))
        for job in sorted(int(number) for number in re.findall(r"\d+", text)):
            if job > after:
                with suppress(Py4JJavaError):
                    data = self._context.statusStore().job(job)
                    if batch := _BATCH.search(_text(data.description())):
                        yield job, int(batch[1]), data

    def _stages(self, job: int, data: Any) -> Iterator[StageRun]:
        for number in re.findall(r"\d+", data.stageIds().mkString(",")):
            with suppress(Py4JJavaError):
                stage = self._context.statusStore().lastStageAttempt(int(number))
                if stage.status().toString() != "SKIPPED":
                    yield StageRun(
                        job=job,
                        id=int(number),
                        tasks=stage.numTasks(),
                        task_time=timedelta(milliseconds=self._task_ms(stage)),
                        reads_shuffle=stage.shuffleReadBytes() > 0,
                    )

    def _task_ms(self, stage: Any) -> int:
        """Sum up the tasks that succeeded; the stage's own sum has those that failed or lost a race in it."""
        total: int = stage.executorRunTime()
        if not stage.numFailedTasks() + stage.numKilledTasks():
            return total
        tasks = self._context.statusStore().taskList(stage.stageId(), stage.attemptId(), _TASKS)
        listed = (tasks.apply(index) for index in range(tasks.size()))
        return sum(
            task.taskMetrics().get().executorRunTime()
            for task in listed
            if task.status() == "SUCCESS" and task.taskMetrics().isDefined()
        )


def _text(option: Any) -> str:
    return str(option.get()) if option.isDefined() else ""
