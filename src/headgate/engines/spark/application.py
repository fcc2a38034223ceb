"""What is known of a Spark application at one instant, wherever it was learnt: its executors and its queries."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


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
    def cores(self) -> int:
        """How many tasks can run at once."""
        return len(self.ids) * (self.cores_each // self.task_cpus)

    def count_for(self, cores: int) -> int:
        """Give how many executors it takes to run so many tasks at once."""
        return -(-cores // (self.cores_each // self.task_cpus))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningQuery:
    """A streaming query that is active."""

    query: str
    """As in `MicroBatch.query`."""
    run_id: str
    started_at: datetime
    waiting: bool
    """Whether it waits for data or for its next trigger; else a batch is under way."""
