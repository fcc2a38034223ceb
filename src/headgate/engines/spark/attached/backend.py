"""The scheduler backend of a running application through Py4J: which executors it has, and asking for others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from headgate.errors import NotFoundError, RefusedError, TransientError, UnreachableError

DRIVER = "driver"
"""The id under which Spark lists the driver among the executors."""
ACTIVE_AND_DEAD = False
_LACKING = re.compile(r"(Method|Constructor) \S+\(.*\) does not exist|does not exist in the JVM")
"""How Py4J, and nobody else, says that a class has no such member."""
REASON = "Headgate needs fewer executors"


@dataclass(frozen=True, slots=True, kw_only=True)
class Executor:
    """One executor that is there."""

    id: str
    cores: int
    running_tasks: int
    added_at: datetime
    leaving: bool
    """Whether it gets no more tasks: it is being decommissioned or killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The executors of an application as its driver sees them."""

    executors: tuple[Executor, ...]
    lost_at: datetime | None
    """When one last left; None if none is known to have."""

    @property
    def staying(self) -> tuple[Executor, ...]:
        """Those that are not on their way out."""
        return tuple(executor for executor in self.executors if not executor.leaving)


class Backend(Protocol):
    """What a lever needs of the driver; `SchedulerBackend` has it from Py4J, a test makes it up."""

    @property
    def started_at(self) -> datetime:
        """Since when the application runs."""

    def setting(self, key: str, default: str) -> str:
        """Give a setting of the application's configuration."""

    def look(self) -> Standing:
        """List the executors."""

    def request_total(self, count: int) -> None:
        """Let the cluster hold this many executors, replacing those that die; those above it stay."""

    def decommission(self, executor: str) -> bool:
        """Give it no more tasks, and let it end when its running ones have; tell whether that is new."""

    def kill(self, executor: str) -> bool:
        """End it unless it runs tasks; tell whether it will end."""

    def is_between_batches(self) -> bool:
        """Tell whether no streaming query of the application is in a batch."""

    def release(self) -> None:
        """Leave the number of executors to whoever decided on it without Headgate; it stays as it is for now."""


class SchedulerBackend:
    """A `Backend` over the session's own driver; the calls are the same on Spark 3.5, 4.0 and 4.3."""

    def __init__(self, session: SparkSession) -> None:
        """Ask nothing yet."""
        context: Any = session.sparkContext
        self._session: Any = session
        self._jvm = context._jvm  # noqa: SLF001 - PySpark's only way to the scheduler
        self._context = context._jsc.sc()  # noqa: SLF001

    @property
    def name(self) -> str:
        """The class of the scheduler backend, without its package."""
        with translated():
            name: str = self._context.schedulerBackend().getClass().getSimpleName()
        return name

    @property
    def started_at(self) -> datetime:
        """Since when the application runs."""
        with translated():
            return _instant(self._context.startTime())

    def setting(self, key: str, default: str) -> str:
        """Read the application's configuration."""
        with translated():
            value: str = self._context.conf().get(key, default)
        return value

    def look(self) -> Standing:
        """List the executors; only the newest of those that left are known."""
        with translated():
            if self._context.isStopped():
                message = "the application has ended"
                raise NotFoundError(message)
            backend = self._context.schedulerBackend()
            listed = _items(self._context.statusStore().executorList(ACTIVE_AND_DEAD))
            listed = [executor for executor in listed if executor.id() != DRIVER]
            return Standing(
                # One that has registered its memory but not itself yet has no cores.
                executors=tuple(_read(one, backend) for one in listed if one.isActive() and one.totalCores()),
                lost_at=max((when for one in listed if (when := _removed_at(one))), default=None),
            )

    def request_total(self, count: int) -> None:
        """Ask the cluster manager."""
        with translated():
            nowhere = scala_object(self._jvm, "scala.collection.immutable.Map$").empty()
            if not self._context.requestTotalExecutors(count, 0, nowhere):
                message = f"the cluster manager did not take the request for {count} executors"
                raise TransientError(message)

    def decommission(self, executor: str) -> bool:
        """Tell scheduler and executor; one without `spark.decommission.enabled` only gets no more tasks."""
        with translated():
            why = self._jvm.org.apache.spark.scheduler.ExecutorDecommissionInfo(REASON, self._jvm.scala.Option.empty())
            # The total was asked for already: lowering it here as well would count the executor twice.
            taken: bool = self._context.schedulerBackend().decommissionExecutor(executor, why, False, False)  # noqa: FBT003
            return taken

    def kill(self, executor: str) -> bool:
        """Ask the scheduler."""
        with translated():
            ids = self._jvm.org.apache.spark.api.python.PythonUtils.toSeq([executor])
            killed = self._context.schedulerBackend().killExecutors(ids, False, False, False)  # noqa: FBT003
            return bool(killed.size())

    def is_between_batches(self) -> bool:
        """Ask the queries of all sessions."""
        with translated():
            queries = active_queries(self._session._jsparkSession)  # noqa: SLF001
            return not any(query.status().isTriggerActive() for query in queries)

    def release(self) -> None:
        """Do nothing: nobody else decides."""


def active_queries(session: Any) -> Sequence[Any]:
    """Give the streaming queries of all sessions of the application, as Java objects, by any Java session of it."""
    shared = session.sharedState().activeStreamingQueries()
    return [query for query in list(shared.values()) if query is not None]


@contextmanager
def translated() -> Iterator[None]:
    """
    Turn what Py4J raises into errors of Headgate.

    Raises:
        NotFoundError: the application has ended, or its driver's JVM has.
        RefusedError: this version of Spark has no such call.
        UnreachableError: the JVM failed otherwise.
    """
    try:
        yield
    except (Py4JNetworkError, ConnectionError) as error:
        message = "the application's JVM does not answer any more"
        raise NotFoundError(message) from error
    except (Py4JError, PySparkException) as error:
        raise _translation(error) from error


def _translation(error: Exception) -> Exception:
    text = str(error).strip() or type(error).__name__
    if "stopped SparkContext" in text:
        return NotFoundError("the application has ended")
    if isinstance(error, Py4JError) and not isinstance(error, Py4JJavaError) and _LACKING.search(text):
        return RefusedError(f"this version of Spark lacks a call: {text.splitlines()[0]}")
    return UnreachableError(f"the driver's JVM failed: {text.splitlines()[0]}")


def _read(executor: Any, backend: Any) -> Executor:
    name = executor.id()
    return Executor(
        id=name,
        cores=executor.totalCores(),
        running_tasks=executor.activeTasks(),
        added_at=_instant(executor.addTime().getTime()),
        leaving=not backend.isExecutorActive(name),
    )


def _removed_at(executor: Any) -> datetime | None:
    when = executor.removeTime()
    return _instant(when.get().getTime()) if when.isDefined() else None


def _items(sequence: Any) -> Sequence[Any]:
    return [sequence.apply(index) for index in range(sequence.size())]


def scala_object(jvm: Any, name: str) -> Any:
    """Give a Scala object; Py4J has no attribute access to names that end with a dollar sign."""
    found = jvm
    for part in name.split("."):
        found = getattr(found, part)
    return getattr(found, "MODULE$")


def _instant(epoch_ms: int) -> datetime:
    return datetime.fromtimestamp(epoch_ms / 1000, UTC)
