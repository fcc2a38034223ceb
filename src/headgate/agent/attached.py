"""The agent as the application's author holds it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from headgate.agent.composing import Engine
from headgate.agent.journal import Journal
from headgate.agent.log import log_leftovers
from headgate.agent.loop import ControlLoop
from headgate.algorithm.explain import explain
from headgate.control.orders import whoever
from headgate.engines.spark.attached.start_settings import QueryFactory
from headgate.model.decision import Decision, Outcome
from headgate.model.events import Event
from headgate.model.identity import JobKey
from headgate.model.orders import Given
from headgate.model.reasons import Reason
from headgate.options.service import Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """How the agent stands at one moment."""

    job: JobKey
    running: bool
    """False once it was closed or the application has ended."""
    mode: Mode
    """What it does now; `advise` also while it is paused."""
    cores: int | None
    """Tasks that the executors can run at once; None before the first sample."""
    queries: tuple[str, ...]
    """The queries, with their stages, that were seen last."""
    decided_at: datetime | None
    """None before the first decision."""
    outcome: Outcome | None
    reason: Reason | None
    """Why the last decision is what it is."""
    message: str
    """That decision in one sentence; empty before the first."""


class Agent:
    """
    Headgate at work inside of an application; `headgate.attach` gives it.

    It works until it is closed or the application ends. It may be used as a context manager. Every method may be called
    from any thread; but for `await_termination` none of them waits for what Spark is at.
    """

    def __init__(self, *, engine: Engine, journal: Journal, mode: Mode, loop: ControlLoop) -> None:
        """Hold the parts; the loop is started by whoever made them."""
        self._job = engine.job
        self._engine = engine
        self._journal = journal
        self._usual = mode
        self._loop = loop
        self._orders = loop.orders
        self._is_released = False
        self._restarts = engine.restarts
        loop.after_decisions(self._stay_released)

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The recent decisions, oldest first: one a decide interval, also those that change nothing."""
        return tuple(self._journal.decisions)

    @property
    def events(self) -> tuple[Event, ...]:
        """The recent events, oldest first; they are in the application's log as well."""
        return tuple(self._journal.events)

    @property
    def status(self) -> Status:
        """How it stands now."""
        last = next(reversed(self._journal.decisions), None)
        seen = self._loop.latest.get(self._job)
        vertices = seen.sample.topology.vertices if seen and seen.sample else ()
        return Status(
            job=self._job,
            running=self._loop.is_running,
            mode=Mode.ADVISE if self._is_paused else self._usual,
            cores=max((vertex.parallelism for vertex in vertices), default=None),
            queries=tuple(vertex.name for vertex in vertices),
            decided_at=last.at if last else None,
            outcome=last.outcome if last else None,
            reason=last.reason if last else None,
            message=last.message if last else "",
        )

    def explain(self) -> str:
        """Say step by step, with the numbers, how the last decision came about."""
        last = next(reversed(self._journal.decisions), None)
        return "\n".join(explain(last)) if last else f"{self._job}: nothing was decided yet"

    def pause(self, why: str = "") -> None:
        """
        Change nothing from now on, and only say what would be done; a change under way is still seen through.

        It is the same as `headgate pause`, and holds in the state store until somebody resumes: with a database also
        after a restart of the application. Dynamic allocation, where it is on, decides again within its own bounds.

        Raises:
            UnreachableError: the state store did not answer; it is not known whether it holds.
        """
        self._orders.pause(self._job, Given(at=datetime.now(UTC), by=whoever(), why=why))
        self._loop.call(self._follow_orders)

    def resume(self) -> None:
        """
        Do again what the option `mode` says, from the executors that there are then, unless all jobs are paused.

        Raises:
            UnreachableError: the state store did not answer; it is not known whether the pause is over.
        """
        self._orders.pause(self._job, None)
        self._loop.call(self._follow_orders)

    @property
    def has_ended(self) -> bool:
        """Whether nothing is under way any more: closed, it may yet see something through."""
        return not self._loop.has_thread

    @property
    def _is_paused(self) -> bool:
        return self._orders.is_paused(self._job)

    def _stay_released(self) -> None:
        """Follow what was ordered elsewhere; what was decided before a pause may have been asked for after it began."""
        if self._is_paused or self._is_released:
            self._loop.call(self._follow_orders)

    async def _follow_orders(self) -> None:
        """Leave the number of executors to others while the application is paused, and take it back afterwards."""
        if self._is_paused:
            self._is_released = True
            await self._engine.release()
        elif self._is_released:
            self._is_released = False
            await self._engine.hold()

    def manage(self, name: str, factory: QueryFactory) -> None:
        """
        Let a query be started anew where its settings are to change: its rows per batch, its trigger, its partitions.

        Args:
            name: of the query, or its id where it has none.
            factory: starts it with the settings that it is given, under its own name, from its own checkpoint.
        """
        log_leftovers(name, self._restarts.manage(name, factory))

    def await_termination(self, name: str) -> None:
        """
        Block until a managed query has ended, other than to be started anew.

        `StreamingQuery.awaitTermination` returns at each restart.

        Raises:
            StreamingQueryException: it failed.
            PermanentError: Headgate started it anew, and it runs neither as wanted nor as before.
        """
        self._restarts.await_termination(name)

    def close(self) -> None:
        """
        Let go of the application, which stays as it is; a second call does nothing.

        It waits a few seconds at most for what is under way.
        """
        self._restarts.close()
        self._loop.stop()

    def __enter__(self) -> Self:
        """Give the agent."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()
