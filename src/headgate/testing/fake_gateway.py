"""A Spark driver that is not there, as what is attached to it sees it: queries that run batches on demand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from headgate.engines.spark.application import Application, Executors, QuerySettings, RunningQuery, StageRun
from headgate.engines.spark.attached.feed import ProgressFeed
from headgate.engines.spark.attached.gateway import BatchWork, QueryFailure
from headgate.errors import NotFoundError, UnreachableError

_MS = timedelta(milliseconds=1)
_BEGIN = datetime(2026, 1, 1, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrivenBatch:
    """What one batch of a query is to be."""

    rows: int = 100
    duration: timedelta = timedelta(seconds=1)
    tasks: tuple[int, ...] = (4,)
    """Of each stage; all but the first read a shuffle."""
    task_time: timedelta = timedelta(milliseconds=800)
    """Of each stage, all its tasks together."""
    lag: int | None = 0
    """Rows left over; None: the source does not tell."""
    state_bytes: int = 0


@dataclass(slots=True, kw_only=True)
class DrivenQuery:
    """A query that is active."""

    name: str
    run_id: str
    started_at: datetime
    settings: QuerySettings = field(default_factory=QuerySettings)
    batches: int = 0
    offset: int = 0
    waiting: bool = True
    work: dict[int, BatchWork] = field(default_factory=dict)
    reports: list[str] = field(default_factory=list)


class FakeGateway:
    """
    A `Gateway` and the application behind it, with a clock that stands still until something happens.

    Attributes:
        feed: gets the progress of batches, as from a listener.
        now: the clock.
        active: the queries, by name.
        writes_late: whether the driver's books have not got the stages of any batch yet.
        forgets: whether they have no stages at all any more.
    """

    def __init__(self, *, executors: int = 2, name: str = "orders") -> None:
        """Let the application run, without a query."""
        self.feed = ProgressFeed()
        self.feed.is_fed = True
        self.now = _BEGIN
        self.active: dict[str, DrivenQuery] = {}
        self.writes_late = False
        self.forgets = False
        self._application = Application(id="app-1", name=name, started_at=self.now)
        self._executors = Executors(ids=(), cores_each=1, changed_at=self.now)
        self._failures: list[QueryFailure] = []
        self._numbers = 0
        self._fault: Exception | None = None
        self.have_executors(executors)

    def have_executors(self, count: int) -> None:
        """Let there be so many from now on."""
        ids = tuple(str(number) for number in range(count))
        self._executors = replace(self._executors, ids=ids, changed_at=self.now)

    def start_query(self, name: str, settings: QuerySettings | None = None) -> None:
        """Start a query, or start it again where it left off."""
        self._numbers += 1
        before = self.active.get(name)
        self.active[name] = DrivenQuery(
            name=name,
            run_id=f"run-{self._numbers}",
            started_at=self.now,
            settings=settings or QuerySettings(interval=timedelta(seconds=5)),
            batches=before.batches if before else 0,
            offset=before.offset if before else 0,
        )

    def run_batch(self, name: str, batch: DrivenBatch | None = None, *, start: datetime | None = None) -> None:
        """Let a query run a batch, now or from some instant on; the clock stands at its end, or later, then."""
        query, done, begun = self.active[name], batch or DrivenBatch(), start or self.now
        self.now = max(self.now, begun + done.duration)
        query.work[query.batches] = BatchWork(stages=tuple(self._stages(done)), complete=True)
        report = json.dumps(_progress(query, done, begun))
        query.reports.append(report)
        self.feed.put(report)
        query.batches += 1
        query.offset += done.rows

    def run_steadily(self, name: str, count: int, batch: DrivenBatch | None = None) -> None:
        """Let a query run so many batches, one at each trigger; the clock stands before the next trigger then."""
        interval = self.active[name].settings.interval or timedelta()
        for _ in range(count):
            begun = self.now
            self.run_batch(name, batch)
            self.now = max(self.now, begun + interval)

    def fail_query(self, name: str, text: str) -> None:
        """Let an exception end a query."""
        query = self.active.pop(name)
        self._failures.append(QueryFailure(query=name, run_id=query.run_id, at=self.now, text=text))

    def stop(self) -> None:
        """Let the application end."""
        self._fault = NotFoundError("the application has ended")

    def go_silent(self) -> None:
        """Give no usable answer from now on."""
        self._fault = UnreachableError("the driver's JVM failed")

    def recover(self) -> None:
        """Answer again."""
        self._fault = None

    def application(self) -> Application:
        """Tell which application it is."""
        self._answer()
        return self._application

    def executors(self) -> Executors:
        """Tell which executors there are."""
        self._answer()
        return self._executors

    def queries(self) -> Sequence[RunningQuery]:
        """List the active queries."""
        self._answer()
        return [
            RunningQuery(query=one.name, run_id=one.run_id, started_at=one.started_at, waiting=one.waiting)
            for one in self.active.values()
        ]

    def settings(self, run_id: str) -> QuerySettings:
        """Tell how a query was started."""
        return self._run(run_id).settings

    def work(self, run_id: str, batch_id: int) -> BatchWork:
        """Give the stages of a batch."""
        if self.writes_late:
            return BatchWork(stages=(), complete=False)
        if self.forgets:
            return BatchWork(stages=(), complete=True)
        return self._run(run_id).work[batch_id]

    def progress_since(self, run_id: str, batch_id: int) -> Sequence[str]:
        """Give the progress after a batch."""
        return [report for report in self._run(run_id).reports if json.loads(report)["batchId"] > batch_id]

    def failures(self) -> Sequence[QueryFailure]:
        """Give what failed."""
        self._answer()
        return tuple(self._failures)

    def _answer(self) -> None:
        if self._fault:
            raise self._fault

    def _run(self, run_id: str) -> DrivenQuery:
        self._answer()
        return next(one for one in self.active.values() if one.run_id == run_id)

    def _stages(self, batch: DrivenBatch) -> Sequence[StageRun]:
        self._numbers += len(batch.tasks)
        return [
            StageRun(
                job=self._numbers,
                id=self._numbers + index,
                tasks=tasks,
                task_time=batch.task_time,
                reads_shuffle=index > 0,
            )
            for index, tasks in enumerate(batch.tasks)
        ]


def _progress(query: DrivenQuery, batch: DrivenBatch, begun: datetime) -> dict[str, Any]:
    """Give what Spark 4.3 writes, as far as anybody reads it."""
    end, duration = query.offset + batch.rows, int(batch.duration / _MS)
    source = {
        "description": f"source of {query.name}",
        "startOffset": {"0": query.offset},
        "endOffset": {"0": end},
        "latestOffset": None if batch.lag is None else {"0": end + batch.lag},
        "numInputRows": batch.rows,
    }
    return {
        "id": f"id of {query.name}",
        "runId": query.run_id,
        "name": query.name,
        "timestamp": begun.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "batchId": query.batches,
        "batchDuration": duration,
        "numInputRows": batch.rows,
        "durationMs": {"triggerExecution": duration, "addBatch": duration - 100},
        "stateOperators": [{"numRowsTotal": 1, "memoryUsedBytes": batch.state_bytes}] if batch.state_bytes else [],
        "sources": [source],
    }
