"""Which stages belong to a batch, by a status store that is not there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from py4j.protocol import Py4JJavaError

from headgate.engines.spark.attached.work import Works

RUN = "run-1"


@dataclass
class Books:
    """A driver's status store, and its tracker of jobs; what Py4J gives of them is made up as it is asked for."""

    jobs: dict[int, tuple[str, str, Sequence[int]]] = field(default_factory=dict)
    """Description, status and stages by id."""
    stages: dict[int, dict[str, Any]] = field(default_factory=dict)
    forgotten: set[int] = field(default_factory=set)
    """Jobs whose data is gone."""
    looked_at: list[int] = field(default_factory=list)

    def run_job(self, number: int, batch: int, *stages: int, status: str = "SUCCEEDED") -> None:
        """Write down a job of a batch."""
        self.jobs[number] = f"count\nid = an-id\nrunId = {RUN}\nbatch = {batch}", status, stages
        for stage in stages:
            self.stages.setdefault(stage, {})

    def works(self) -> Works:
        """Give what is tested."""
        arrays = SimpleNamespace(toString=str)
        jvm = SimpleNamespace(java=SimpleNamespace(util=SimpleNamespace(Arrays=arrays)))
        tracker = SimpleNamespace(getJobIdsForGroup=lambda _: sorted(self.jobs))
        return Works(SimpleNamespace(statusTracker=lambda: tracker, statusStore=lambda: self), jvm)

    def job(self, number: int) -> Any:
        """Give a job as the store has it."""
        if number in self.forgotten:
            message = f"no job {number}"
            raise Py4JJavaError(message, SimpleNamespace(_target_id="o1"))
        self.looked_at.append(number)
        description, status, stages = self.jobs[number]
        return SimpleNamespace(
            description=lambda: option(description),
            status=lambda: named(status),
            stageIds=lambda: SimpleNamespace(mkString=lambda comma: comma.join(map(str, stages))),
        )

    def lastStageAttempt(self, number: int) -> Any:  # noqa: N802 - Spark's name
        """Give a stage as the store has it."""
        told = {"status": "COMPLETE", "numTasks": 4, "executorRunTime": 100, **self.stages[number]}
        names = ("numFailedTasks", "numKilledTasks", "shuffleReadBytes", "attemptId")
        found = {"stageId": number, **dict.fromkeys(names, 0), **told, "status": named(told["status"])}
        return SimpleNamespace(**{name: given(value) for name, value in found.items()})

    def taskList(self, stage: int, attempt: int, most: int) -> Any:  # noqa: ARG002, N802
        """Give the tasks of a stage."""
        tasks = [task(*each) for each in self.stages[stage]["tasks"]]
        return SimpleNamespace(size=lambda: len(tasks), apply=tasks.__getitem__)


def given(value: Any) -> Any:
    """Give a getter."""
    return lambda: value


def named(text: str) -> Any:
    """Give a member of one of Java's enums."""
    return SimpleNamespace(toString=lambda: text)


def option(value: Any) -> Any:
    """Give a Scala option that is there."""
    return SimpleNamespace(isDefined=lambda: True, get=lambda: value)


def task(status: str, ms: int) -> Any:
    """Give a task as the store has it."""
    return SimpleNamespace(
        status=lambda: status, taskMetrics=lambda: option(SimpleNamespace(executorRunTime=lambda: ms))
    )


def test_a_batch_has_the_stages_of_its_jobs() -> None:
    """Those of other batches of the run do not count."""
    books = Books()
    books.run_job(1, 0, 10)
    books.run_job(2, 1, 11, 12)
    books.run_job(3, 1, 13)
    books.run_job(4, 2, 14)
    work = books.works().of(RUN, 1)
    assert work.complete
    assert sorted(stage.id for stage in work.stages) == [11, 12, 13]


def test_jobs_of_past_batches_are_not_looked_at_again() -> None:
    """The driver remembers a thousand of them."""
    books = Books()
    for batch in range(3):
        books.run_job(batch, batch, batch)
    works = books.works()
    works.of(RUN, 0)
    works.of(RUN, 1)
    books.looked_at.clear()
    works.of(RUN, 2)
    assert books.looked_at == [2]


def test_a_job_that_runs_on_in_the_books_leaves_a_batch_incomplete() -> None:
    """And is looked at again."""
    books = Books()
    books.run_job(1, 0, 10, status="RUNNING")
    works = books.works()
    assert not works.of(RUN, 0).complete
    books.run_job(1, 0, 10)
    assert [stage.id for stage in works.of(RUN, 0).stages] == [10]


def test_skipped_stages_are_left_out() -> None:
    """They reuse what an earlier one wrote."""
    books = Books(stages={10: {"status": "SKIPPED"}})
    books.run_job(1, 0, 10, 11)
    assert [stage.id for stage in books.works().of(RUN, 0).stages] == [11]


def test_failed_and_needless_attempts_are_no_work() -> None:
    """A speculative copy that lost, and a task that had to be run again, would make rows look dear."""
    tasks = [("SUCCESS", 40), ("KILLED", 500), ("FAILED", 300), ("SUCCESS", 60)]
    books = Books(stages={10: {"executorRunTime": 900, "numFailedTasks": 1, "numKilledTasks": 1, "tasks": tasks}})
    books.run_job(1, 0, 10)
    (stage,) = books.works().of(RUN, 0).stages
    assert stage.task_time.total_seconds() == 0.1


def test_what_the_driver_has_forgotten_is_not_there() -> None:
    """Neither an error nor something to wait for."""
    books = Books(forgotten={1})
    books.run_job(1, 0, 10)
    work = books.works().of(RUN, 0)
    assert (work.stages, work.complete) == ((), True)
