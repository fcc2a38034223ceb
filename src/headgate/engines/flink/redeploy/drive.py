"""Driving a redeploy in a task of its own: the job must not stand still until somebody asks again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta

from headgate.engines.flink.redeploy.course import Course
from headgate.engines.flink.redeploy.jars import concealed
from headgate.errors import HeadgateError, TransientError

_LONGEST_PAUSE_S = 2.0
_GROWTH = 1.2


class Drive:
    """A course that this process goes on with until its end."""

    def __init__(self, course: Course, still_ours: Callable[[], Awaitable[bool]], *, poll: timedelta) -> None:
        """
        Set off.

        Args:
            course: what to do.
            still_ours: asked before every step; where it is not, nothing more is done.
            poll: the pause between two steps, at first; it grows to 2 s.
        """
        self.decision_id = course.intent.decision_id
        self._course = course
        self._still_ours = still_ours
        self._trouble: TransientError | None = None
        self._task = asyncio.create_task(self._follow(poll.total_seconds()))

    def tell(self) -> bool:
        """
        Tell whether the end was reached; False while under way, or where it was left for not being ours any more.

        Raises:
            RefusedError: it ended otherwise.
            NotFoundError: likewise.
            TransientError: the latest step had no answer; it is tried again.
        """
        if self._task.done():
            return self._task.result()
        if self._trouble is not None:
            raise self._trouble
        return False

    @property
    def is_over(self) -> bool:
        """Whether nothing is done any more."""
        return self._task.done()

    def allow(self, *, may_begin: bool) -> None:
        """Tell whether the job may be stopped by now; what has begun goes on."""
        self._course.may_begin = may_begin

    async def close(self) -> None:
        """Stop where it is; the cluster shows the next one how far it has come."""
        self._task.cancel()
        with suppress(asyncio.CancelledError, HeadgateError):
            await self._task

    async def _follow(self, pause_s: float) -> bool:
        while (reached := await self._advance()) is False:
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * _GROWTH, max(pause_s, _LONGEST_PAUSE_S))
        return bool(reached)

    async def _advance(self) -> bool | None:
        """Take one step; None: it is not ours to take."""
        try:
            reached = await self._course.advance() if await self._still_ours() else None
        except HeadgateError as error:
            told = concealed(error, self._course.launch)
            if not isinstance(told, TransientError):
                raise told from None
            self._trouble = told
            return False
        self._trouble = None
        return reached
