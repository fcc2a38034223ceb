"""Which stages ran for which micro-batch, and what they took. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from headgate.engines.spark.application import StageRun
from headgate.engines.spark.outside.event_log import Event
from headgate.engines.spark.stages import folded
from headgate.model.micro_batch import StageWork

BATCH = "streaming.sql.batchId"
QUERY = "sql.streaming.queryId"
"""The job group is the run's id, but for what `foreachBatch` sets."""

Batch = tuple[str, int]
"""Id of the query, the same across its runs, and of the batch."""


@dataclass(slots=True, kw_only=True)
class BatchWork:
    """The work of the batches that are under way."""

    _runs: dict[Batch, dict[int, StageRun]] = field(default_factory=dict)
    _batch_of: dict[int, Batch] = field(default_factory=dict)
    """By stage."""
    _ran: set[int] = field(default_factory=set)
    """Stages of which a task ended; the others are skipped."""

    def begin_job(self, event: Event) -> str | None:
        """Take in a job, and give the id of the query that it is of; None for one that is of none."""
        told = event.get("Properties") or {}
        if BATCH not in told or QUERY not in told:
            return None
        batch = str(told[QUERY]), int(told[BATCH])
        for stage in event["Stage Infos"]:
            # What an earlier job of the batch wrote, later ones reuse.
            self._runs.setdefault(batch, {}).setdefault(stage["Stage ID"], _not_run(event["Job ID"], stage))
            self._batch_of.setdefault(stage["Stage ID"], batch)
        return batch[0]

    def end_task(self, event: Event) -> None:
        """Count a task that succeeded."""
        stage = event["Stage ID"]
        batch = self._batch_of.get(stage)
        if batch is None or event["Task End Reason"]["Reason"] != "Success":
            return
        run, spent = self._runs[batch][stage], event["Task Metrics"]["Executor Run Time"]
        self._runs[batch][stage] = replace(run, task_time=run.task_time + timedelta(milliseconds=spent))
        self._ran.add(stage)

    def take(self, batch: Batch) -> tuple[StageWork, ...]:
        """Give the work of a batch that ended; forget it, and those before it, of whose end nobody was told."""
        done = folded(run for stage, run in self._runs.get(batch, {}).items() if stage in self._ran)
        for known in [known for known in self._runs if known[0] == batch[0] and known[1] <= batch[1]]:
            self._forget(known)
        return done

    def drop(self, query: str) -> None:
        """Forget the batches of a query whose run is over."""
        for batch in [batch for batch in self._runs if batch[0] == query]:
            self._forget(batch)

    def _forget(self, batch: Batch) -> None:
        for stage in self._runs.pop(batch):
            self._batch_of.pop(stage, None)
            self._ran.discard(stage)


def _not_run(job: int, stage: Mapping[str, Any]) -> StageRun:
    return StageRun(
        job=job,
        id=stage["Stage ID"],
        tasks=stage["Number of Tasks"],
        task_time=timedelta(),
        reads_shuffle=bool(stage["Parent IDs"]),
    )
