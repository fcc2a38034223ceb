"""
Ends executors that get no more tasks, where they do not end by themselves.

Without `spark.decommission.enabled` at its start an executor ignores that it is to go: only the scheduler heeds it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import timedelta

from headgate.engines.spark.attached.backend import Backend
from headgate.engines.spark.attached.calls import Calls
from headgate.errors import HeadgateError

POLL = timedelta(seconds=1)


class Draining:
    """Waits beside everything else until such executors have done their last task."""

    def __init__(self, backend: Backend, calls: Calls, poll: timedelta = POLL) -> None:
        """Wait for none yet; `poll` is how often it looks."""
        self._backend = backend
        self._calls = calls
        self._poll = poll
        self._executors: set[str] = set()
        self._task: asyncio.Task[None] | None = None

    def begin(self, executors: Iterable[str]) -> None:
        """See to some more, in the running loop."""
        self._executors |= set(executors)
        if self._executors and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._drain())

    async def drained(self) -> None:
        """Wait until there are none left."""
        if self._task is not None:
            await self._task

    async def _drain(self) -> None:
        while self._executors:
            try:
                self._executors = await self._calls.make(self._end_idle)
            except HeadgateError:
                # An application that is gone has no executors; another fault passes, or the next request tells of it.
                return
            await asyncio.sleep(self._poll.total_seconds())

    def _end_idle(self) -> set[str]:
        """Give those that are still there."""
        if self._backend.setting("spark.decommission.enabled", "false") == "true":
            return set()
        leaving = [one for one in self._backend.look().executors if one.id in self._executors]
        for executor in leaving:
            if executor.running_tasks == 0:
                self._backend.kill(executor.id)
        return {executor.id for executor in leaving}
