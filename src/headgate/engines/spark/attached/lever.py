"""Adds and removes executors from inside of the driver, through its scheduler backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime

from pyspark.sql import SparkSession

from headgate.engines.spark.application import Executors
from headgate.engines.spark.attached.backend import Backend, Executor, SchedulerBackend, Standing
from headgate.engines.spark.attached.calls import Calls
from headgate.engines.spark.attached.draining import Draining
from headgate.engines.spark.attached.dynamic_allocation import SteeredBackend, is_on
from headgate.errors import HeadgateError, RefusedError, UnsupportedError


def open_lever(session: SparkSession, calls: Calls | None = None) -> BackendLever:
    """
    Give the lever of this application.

    Args:
        session: its own.
        calls: makes the calls to the driver's JVM; None makes a thread for them.

    Raises:
        UnsupportedError: it has no executors (`local[*]`), or dynamic allocation holds them, and this version of Spark
            does not let it be steered.
    """
    backend = SchedulerBackend(session)
    if backend.name == "LocalSchedulerBackend":
        message = (
            f"master {session.sparkContext.master} runs all tasks in the driver: there are no executors to add or to "
            "remove. Hint: use a standalone, YARN or Kubernetes master, or local-cluster[n,c,m] for a try"
        )
        raise UnsupportedError(message)
    return BackendLever(SteeredBackend(session) if is_on(backend) else backend, calls)


class BackendLever:
    """An `engines.spark.levers.ExecutorLever` over a scheduler backend; `open_lever` makes the right one."""

    def __init__(
        self,
        backend: Backend,
        calls: Calls | None = None,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """
        Ask nothing yet.

        Args:
            backend: the scheduler's.
            calls: makes the calls of the backend; None makes a thread for them.
            clock: tells when an executor was told to go.
        """
        self._backend = backend
        self._calls = calls or Calls()
        self._clock = clock
        self._draining = Draining(backend, self._calls)
        self._asked: int | None = None
        self._is_released = False
        self._held: frozenset[str] = frozenset()
        self._shrunk_at: datetime | None = None
        self._cores_each: int | None = None

    async def executors(self) -> Executors:
        """Tell which executors there are; one that was told to go does not count any more."""
        return await self._calls.make(lambda: self._counted(self._backend.look()))

    async def request(self, count: int, /) -> bool:
        """
        Ask for so many executors.

        Those that run the fewest tasks go first, of these the youngest: state stores stay where they were loaded, so
        the youngest holds least of them. An executor that was killed is asked for again.
        """
        leaving, sent = await self._calls.make(lambda: self._request(count))
        self._draining.begin(leaving)
        return sent

    async def release(self) -> None:
        """
        Let the number of executors be decided without Headgate, until the next request.

        Raises:
            NotFoundError: the application is gone.
            TransientError: no usable answer.
        """
        await self._calls.make(self._release)

    async def hold(self) -> None:
        """
        Keep the executors that there are, where dynamic allocation has decided on their number meanwhile.

        Raises:
            RefusedError: it is outside of what dynamic allocation was told.
            NotFoundError: the application is gone.
            TransientError: no usable answer.
        """
        present = len((await self.executors()).ids)
        if present and is_on(self._backend):
            await self.request(present)

    def close(self) -> None:
        """Let go of the executors; an application that has ended needs nothing. It blocks, and no call is under way."""
        self._draining.close()
        with suppress(HeadgateError):
            self._release()

    def _release(self) -> None:
        self._is_released = True
        self._backend.release()

    def _request(self, count: int) -> tuple[Sequence[str], bool]:
        """Give all that are on their way out, whoever told them to, and whether something was asked for."""
        standing = self._backend.look()
        _confirm(count, self._counted(standing), self._backend)
        staying = standing.staying
        sent = self._ask(count, frozenset(executor.id for executor in staying))
        told = self._dismiss(sorted(staying, key=_dispensability)[: max(len(staying) - count, 0)])
        leaving = [executor.id for executor in standing.executors if executor.leaving]
        return [*leaving, *told], sent or bool(told)

    def _ask(self, count: int, present: frozenset[str]) -> bool:
        """Lower the total before executors go, or the cluster manager would replace them."""
        known = count in {self._asked, len(present) if self._asked is None else None}
        lost = self._held - present
        self._held = present
        if known and not self._is_released and not (lost and len(present) < count):
            return False
        self._backend.request_total(count)
        self._asked, self._is_released = count, False
        return True

    def _dismiss(self, superfluous: Sequence[Executor]) -> Sequence[str]:
        told = [executor.id for executor in superfluous if self._backend.decommission(executor.id)]
        if told:
            self._shrunk_at = self._clock()
            self._held -= set(told)
        return told

    def _counted(self, standing: Standing) -> Executors:
        staying = standing.staying
        # Without `spark.executor.cores` one executor of a standalone cluster takes a whole worker.
        self._cores_each = min((executor.cores for executor in staying), default=self._cores_each)
        instants = (self._backend.started_at, standing.lost_at, self._shrunk_at, *(one.added_at for one in staying))
        return Executors(
            ids=tuple(executor.id for executor in staying),
            cores_each=self._cores_each or int(self._backend.setting("spark.executor.cores", "1")),
            changed_at=max(instant for instant in instants if instant is not None),
            task_cpus=int(self._backend.setting("spark.task.cpus", "1")),
        )


def _confirm(count: int, executors: Executors, backend: Backend) -> None:
    cores = backend.setting("spark.cores.max", "")
    if cores and count * executors.cores_each > int(cores):
        message = (
            f"{count} executors of {executors.cores_each} cores each are more than spark.cores.max={cores} allows. "
            "Hint: start the application with a larger spark.cores.max, or lower the largest parallelism"
        )
        raise RefusedError(message)


def _dispensability(executor: Executor) -> tuple[int, float]:
    return executor.running_tasks, -executor.added_at.timestamp()
