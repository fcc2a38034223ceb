"""
Ends executors that get no more tasks, where they do not end by themselves.

Without `spark.decommission.enabled` at its start an executor ignores that it is to go: only the scheduler heeds it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import timedelta

from headgate.engines.spark.attached.backend import Backend
from headgate.engines.spark.attached.calls import Calls
from headgate.errors import HeadgateError, NotFoundError

POLL = timedelta(seconds=1)
LIMIT = timedelta(minutes=10)
"""How long one that is idle is kept for the end of the batch: output of a shuffle that lies on it may still be read."""


class Draining:
    """Waits beside everything else until such executors have done their last task."""

    def __init__(
        self,
        backend: Backend,
        calls: Calls,
        *,
        poll: timedelta = POLL,
        limit: timedelta = LIMIT,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Wait for none yet.

        Args:
            backend: the scheduler's.
            calls: makes the calls of the backend.
            poll: how often it looks.
            limit: how long an executor that runs no task waits for an instant at which no query is in a batch.
            clock: in seconds.
        """
        self._backend = backend
        self._calls = calls
        self._poll = poll
        self._limit_s = limit.total_seconds()
        self._clock = clock
        self._executors: dict[str, float] = {}
        """Since when each is waited for."""
        self._task: asyncio.Task[None] | None = None

    def begin(self, executors: Iterable[str]) -> None:
        """See to some more, in the running loop."""
        self._executors = dict.fromkeys(executors, self._clock()) | self._executors
        if self._executors and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._drain())

    async def drained(self) -> None:
        """Wait until there are none left."""
        if self._task is not None:
            await self._task

    async def _drain(self) -> None:
        while self._executors:
            try:
                gone = await self._calls.make(self._end_idle)
                # More may have been told to go meanwhile.
                self._executors = {one: since for one, since in self._executors.items() if one not in gone}
            except NotFoundError:
                return
            except HeadgateError:
                pass  # it is looked at again: nobody else ends them
            await asyncio.sleep(self._poll.total_seconds())

    def close(self) -> None:
        """End those that are idle at once: nobody will come back to them."""
        with suppress(HeadgateError):
            if self._executors:
                self._end_idle(at_once=True)

    def _end_idle(self, *, at_once: bool = False) -> set[str]:
        """Give those that need not be waited for any more."""
        if self._backend.setting("spark.decommission.enabled", "false") == "true":
            return set(self._executors)
        waited = dict(self._executors)
        leaving = [one for one in self._backend.look().executors if one.id in waited]
        idle = [one.id for one in leaving if one.running_tasks == 0]
        free = at_once or (bool(idle) and self._backend.is_between_batches())
        for executor in idle:
            if free or self._clock() - waited[executor] >= self._limit_s:
                self._backend.kill(executor)
        return waited.keys() - {executor.id for executor in leaving}
