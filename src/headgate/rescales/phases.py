"""How the time of one rescale is divided: instants that Flink and a watcher noted, and what lies between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import pairwise


@dataclass(frozen=True, slots=True, kw_only=True)
class Instants:
    """When what happened, in milliseconds since 1970; each is at or after the one before it."""

    requested: int
    """The rescale was asked for; the job still works."""
    snapshot_begun: int
    """Redeploy: the savepoint was begun. In place: as `stopping`, because the job works while a checkpoint is taken."""
    stopping: int
    """The snapshot is complete, and the tasks are being ended."""
    stopped: int
    """No task is left."""
    initializing: int
    """The task that ran last began to take up its state."""
    running: int
    """The last task runs."""
    first_output: int
    """A record was seen to have reached the sink."""
    caught_up: int
    """The job is no more behind its load than before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phases:
    """The parts of one rescale in their order, in seconds; together they are all of it."""

    waiting_s: float
    """Until the snapshot: in place for the next checkpoint to be complete. The job works."""
    savepoint_s: float
    """Writing the savepoint; 0 in place."""
    teardown_s: float
    redeploy_s: float
    """Until the task that runs last is there: its job is submitted, planned and deployed."""
    loading_s: float
    """Taking up the state, of the task that runs last."""
    first_output_s: float
    """From the last task's running until a record has gone through."""
    catch_up_s: float
    """Until the job is no more behind than before. It works."""

    @property
    def downtime_s(self) -> float:
        """Seconds in which nothing comes out: all but waiting before and catching up after."""
        return self.savepoint_s + self.teardown_s + self.redeploy_s + self.loading_s + self.first_output_s


PHASES = tuple(field.name for field in fields(Phases))
DOWN = tuple(name for name in PHASES if name not in {"waiting_s", "catch_up_s"})
"""The phases in which nothing comes out."""


def split(instants: Instants) -> Phases:
    """
    Divide a rescale at its instants.

    Two clocks that are read one after the other, or a counter that is looked at only now and then, may put an instant
    a little before the one that caused it: that phase took no time, and the next begins where it does.
    """
    marks = list(asdict(instants).values())
    reached = [max(marks[: number + 1]) for number in range(len(marks))]
    lengths = [(later - earlier) / 1000 for earlier, later in pairwise(reached)]
    return Phases(**dict(zip(PHASES, lengths, strict=True)))


SubtaskTimes = Mapping[str, int]
"""When a subtask came into each state, as `/jobs/:id/vertices/:vid/subtasktimes` tells; 0 where it never was."""


def last_to_run(subtasks: Sequence[SubtaskTimes]) -> tuple[int, int]:
    """Return when the subtask that ran last was initializing, and running."""
    last = max(subtasks, key=lambda times: times["RUNNING"])
    return last["INITIALIZING"], last["RUNNING"]
