"""What is known of a Spark application at one instant, wherever it was learnt: its executors and its queries."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from headgate.engines.spark.offsets import Lag


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """Which application it is."""

    id: str
    """Another one after each start of the driver."""
    name: str
    started_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Executors:
    """The executors of an application; the driver is none."""

    ids: tuple[str, ...]
    """Of those that are alive and are not being decommissioned."""
    cores_each: int
    changed_at: datetime
    """When one last came or went; the start of the application if none did."""
    task_cpus: int = 1
    """Cores that a task takes (`spark.task.cpus`)."""

    @property
    def slots_each(self) -> int:
        """How many tasks can run at once on one of them; at least 1: before any is there its cores may be a guess."""
        return max(self.cores_each // self.task_cpus, 1)

    @property
    def cores(self) -> int:
        """How many tasks can run at once."""
        return len(self.ids) * self.slots_each

    def count_for(self, cores: int) -> int:
        """Give how many executors it takes to run so many tasks at once."""
        return -(-cores // self.slots_each)


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunBatch:
    """A batch that was planned: what it reads is settled, though it may take long to do so."""

    batch_id: int
    at: datetime
    """When its rows were counted."""
    rows: float
    """By the offsets of its sources."""
    lag: Lag
    """What it leaves behind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningQuery:
    """A streaming query that is active."""

    query: str
    """As in `MicroBatch.query`."""
    run_id: str
    started_at: datetime
    waiting: bool
    """Whether it waits for data or for its next trigger; else a batch is under way."""
    foreign: bool = False
    """Whether it runs in another session of the application, whose listeners do not tell of it."""
    begun: BegunBatch | None = None
    """The latest batch that was planned, where that can be told; it may have ended since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuerySettings:
    """How a query was started, as far as that can be told."""

    interval: timedelta | None = None
    """Between two triggers; None: one batch follows the other at once."""
    row_limit: int | None = None
    """Most rows that a batch may take from all sources together; None: no limit, or none in rows."""
    takes_all: bool = True
    """Whether a batch takes all that the sources have: they know no limit, be it in rows, files or bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRun:
    """A stage of a micro-batch as it ran; one that was skipped is none."""

    job: int
    """Id of the Spark job that it was first run for."""
    id: int
    tasks: int
    task_time: timedelta
    """Summed over the tasks that succeeded."""
    reads_shuffle: bool
