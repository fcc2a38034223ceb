"""Calls beside each other; answers that several jobs of a cluster need at a tick are asked for once, given to all."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from headgate.errors import HeadgateError

T = TypeVar("T")


async def together(calls: Iterable[Awaitable[T]]) -> list[T]:
    """
    Await several calls at once; the first failure is raised when all have ended, so that none goes on unawaited.

    Raises:
        Exception: whatever the first call to fail, in their order, raised.
    """
    answers = await asyncio.gather(*calls, return_exceptions=True)
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
    return [answer for answer in answers if not isinstance(answer, BaseException)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept(Generic[T]):
    """An answer that another process may go on with."""

    asked_at: datetime
    answer: T
    failed: bool
    """Whether it is an old one, after a call that failed."""


class Shared(Generic[T]):
    """
    One answer, kept for a while of tick time; whoever asks while it is under way waits for the same call.

    A failed call is made again at the next tick. It gives None, or where answers are kept for a while the one before:
    what changes so rarely is most likely still so.
    """

    def __init__(
        self, ask: Callable[[], Awaitable[T]], keep_for: timedelta = timedelta(), *, kept: Kept[T] | None = None
    ) -> None:
        """Ask nothing yet; with no `keep_for` each tick asks anew. `kept` is known already."""
        self._ask = ask
        self._keep_for = keep_for
        self._asked_at: datetime | None = kept.asked_at if kept else None
        self._answer: asyncio.Task[T | None] | None = None
        self._known: T | None = kept.answer if kept else None
        self._failed = kept.failed if kept else False

    @property
    def kept(self) -> Kept[T] | None:
        """What is known; None as long as nothing is."""
        if self._asked_at is None or self._known is None:
            return None
        return Kept(asked_at=self._asked_at, answer=self._known, failed=self._failed)

    async def get(self, at: datetime) -> T | None:
        """Give the answer that holds at a tick."""
        if self._is_due(at):
            self._asked_at = at
            self._answer = asyncio.create_task(self._try())
        if self._answer is None:
            return self._known
        # shielded: one job that is cancelled must not take the answer from the others
        return await asyncio.shield(self._answer)

    def _is_due(self, at: datetime) -> bool:
        if self._asked_at is None or at == self._asked_at:
            return self._asked_at is None
        done = self._answer is None or self._answer.done()
        return (done and self._failed) or at - self._asked_at >= self._keep_for

    async def _try(self) -> T | None:
        self._failed, answer = True, None
        with suppress(HeadgateError):
            answer = await self._ask()
        self._failed = answer is None
        if answer is not None or not self._keep_for:
            self._known = answer
        return self._known
