"""The gateway through Py4J: the driver's status store, its scheduler and its active queries."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import SparkSession

from headgate.engines.spark.application import Application, Executors, QuerySettings, RunningQuery
from headgate.engines.spark.attached.backend import SchedulerBackend, active_queries
from headgate.engines.spark.attached.begun import begun_batch
from headgate.engines.spark.attached.gateway import BatchWork, QueryFailure
from headgate.engines.spark.attached.starting import settings_of
from headgate.engines.spark.attached.throwables import asking, printed
from headgate.engines.spark.attached.work import Works
from headgate.errors import NotFoundError

_LOCAL = "LocalSchedulerBackend"
_STARTING = "Initializing"
_FAILURES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class _Handle:
    """An active query, and what of it never changes."""

    seen: RunningQuery
    query: Any
    """The Java object."""


class JvmGateway:
    """An `engines.spark.attached.gateway.Gateway` over the session's own driver; on Spark 3.5, 4.0 and 4.3."""

    def __init__(self, session: SparkSession, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """Ask nothing yet; the clock tells when a query began or failed, and when an executor went."""
        context: Any = session.sparkContext
        self._session: Any = session._jsparkSession  # noqa: SLF001 - PySpark wraps it call by call
        self._context: Any = context._jsc.sc()  # noqa: SLF001 - PySpark's only way to the status store
        self._backend = SchedulerBackend(session)
        self._works = Works(self._context, context._jvm)  # noqa: SLF001
        self._clock = clock
        self._handles: dict[str, _Handle] = {}
        self._failures: deque[QueryFailure] = deque(maxlen=_FAILURES)
        self._executors: Executors | None = None

    def application(self) -> Application:
        """Tell which application it is."""
        with asking():
            if self._context.isStopped():
                message = "the application has ended"
                raise NotFoundError(message)
            return Application(
                id=self._context.applicationId(),
                name=self._context.appName(),
                started_at=_instant(self._context.startTime()),
            )

    def executors(self) -> Executors:
        """Tell which executors there are; the driver counts as one where it runs the tasks itself (`local[n]`)."""
        task_cpus = int(self._backend.setting("spark.task.cpus", "1"))
        ids, cores_each, told_at = self._local() if self._backend.name == _LOCAL else self._present()
        changed_at = since(ids, told_at, self._executors, self._clock())
        self._executors = Executors(ids=ids, cores_each=cores_each, changed_at=changed_at, task_cpus=task_cpus)
        return self._executors

    def queries(self) -> Sequence[RunningQuery]:
        """List the active queries of all sessions, which share the executors, and notice those that are no more."""
        with asking():
            # In this order, and without those that ended in between: no own query is ever taken for a foreign one.
            shared = {str(one.runId().toString()): one for one in active_queries(self._session)}
            own = {str(one.runId().toString()): one for one in self._session.streams().active()}
            foreign = {run_id: one for run_id, one in shared.items() if run_id not in own and one.isActive()}
            active = own | foreign
            self._notice_ends(active.keys())
            return [self._running(run_id, query, foreign=run_id in foreign) for run_id, query in active.items()]

    def settings(self, run_id: str) -> QuerySettings:
        """Tell how an active query was started."""
        handle = self._handles.get(run_id)
        with asking():
            return settings_of(handle.query) if handle else QuerySettings()

    def work(self, run_id: str, batch_id: int) -> BatchWork:
        """Give the stages of a batch."""
        with asking():
            return self._works.of(run_id, batch_id)

    def progress_since(self, run_id: str, batch_id: int) -> Sequence[str]:
        """Give the progress after a batch; Spark keeps the latest 100."""
        handle = self._handles.get(run_id)
        with asking():
            return [*_newer(handle.query.recentProgress(), batch_id)][::-1] if handle else []

    def failures(self) -> Sequence[QueryFailure]:
        """Give the latest queries that have ended by an exception."""
        self.queries()
        return tuple(self._failures)

    def _present(self) -> tuple[tuple[str, ...], int, datetime]:
        """Give ids and cores of the executors that stay, and when one last came or went."""
        standing = self._backend.look()
        staying = [executor for executor in standing.executors if not executor.leaving]
        cores = min((executor.cores for executor in staying), default=self._configured_cores())
        lost_at = [standing.lost_at] if standing.lost_at else []
        told_at = max([self._backend.started_at, *lost_at, *(executor.added_at for executor in staying)])
        return tuple(sorted(executor.id for executor in staying)), cores, told_at

    def _local(self) -> tuple[tuple[str, ...], int, datetime]:
        with asking():
            return ("driver",), self._context.defaultParallelism(), self._backend.started_at

    def _configured_cores(self) -> int:
        before = self._executors
        return before.cores_each if before else int(self._backend.setting("spark.executor.cores", "1"))

    def _running(self, run_id: str, query: Any, *, foreign: bool) -> RunningQuery:
        handle = self._handles.get(run_id)
        if handle is None:
            handle = self._handles[run_id] = self._handle(run_id, query)
        status = query.status()
        waiting = not status.isTriggerActive() and not status.message().startswith(_STARTING)
        return replace(handle.seen, waiting=waiting, foreign=foreign, begun=begun_batch(query))

    def _handle(self, run_id: str, query: Any) -> _Handle:
        # Names are unique within a session only.
        taken = query.name() in {handle.seen.query for handle in self._handles.values()}
        name = query.id().toString() if taken else query.name() or query.id().toString()
        seen = RunningQuery(query=name, run_id=run_id, started_at=self._clock(), waiting=False)
        return _Handle(seen=seen, query=query)

    def _notice_ends(self, active: Collection[str]) -> None:
        for run_id in self._handles.keys() - active:
            handle = self._handles.pop(run_id)
            self._works.forget(run_id)
            if handle.query.exception().isDefined():
                text = printed(handle.query.exception().get())
                failure = QueryFailure(query=handle.seen.query, run_id=run_id, at=self._clock(), text=text)
                self._failures.append(failure)


def since(ids: tuple[str, ...], told_at: datetime, before: Executors | None, now: datetime) -> datetime:
    """
    Give when the executors last changed.

    Args:
        ids: of those that stay.
        told_at: when one last came or was lost, by the driver's books; of one that is told to go they know nothing.
        before: as they were seen before.
        now: tells when such a one went.
    """
    if before is None:
        return told_at
    if before.ids == ids:
        return before.changed_at
    return told_at if told_at > before.changed_at else now


def _newer(reports: Any, batch_id: int) -> Iterator[str]:
    """Give the reports of batches after one, the newest first."""
    for index in range(len(reports) - 1, -1, -1):
        if reports[index].batchId() <= batch_id:
            return
        yield reports[index].json()


def _instant(epoch_ms: int) -> datetime:
    return datetime.fromtimestamp(epoch_ms / 1000, UTC)
