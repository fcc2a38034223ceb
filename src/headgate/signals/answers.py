"""
What was asked of a system and is still good: a question is asked once for all jobs that have it, as often as allowed.

Questions that come at about the same time are asked in one go.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from headgate.errors import HeadgateError
from headgate.ports import Missing

Question = TypeVar("Question", bound=Hashable)

_LINGER_S = 0.02
"""How long the first question waits for others: the jobs of a tick ask within milliseconds."""
_EARLY = 0.1
"""Share of the refresh interval by which a tick may come too early and still count as the next one."""
_RETRY_S = 5.0
"""How soon a failed question is asked again at the latest."""
_FORGET_S = 600.0
"""A question that nobody has asked for so long is forgotten: its job is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A number, and when it was true."""

    value: float
    measured_at: datetime


Answer = Reading | Missing
Ask = Callable[[Sequence[Question]], Awaitable[Mapping[Question, Answer]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    asked_s: float
    answer: asyncio.Future[Answer]

    def is_good(self, now_s: float, refresh_s: float) -> bool:
        if not self.answer.done():
            return True
        if isinstance(self.answer.result(), Missing):
            refresh_s = min(refresh_s, _RETRY_S)
        return now_s - self.asked_s < refresh_s * (1 - _EARLY)


class Answers(Generic[Question]):
    """
    Keeps the answers of one system.

    Whoever is cancelled while it waits takes nothing from the others: the answer comes, and counts for the next tick.
    """

    def __init__(self, ask: Ask[Question], *, refresh: timedelta, limit: Callable[[int], timedelta]) -> None:
        """
        Ask nothing yet.

        Args:
            ask: asks several questions at once; one that is not answered is missing.
            refresh: how long an answer is good.
            limit: how long `ask` may take for so many questions.
        """
        self._ask = ask
        self._refresh_s = refresh.total_seconds()
        self._limit = limit
        self._kept: dict[Question, _Kept] = {}
        self._waiting: list[Question] = []
        self._asking: set[asyncio.Task[None]] = set()

    async def get(self, questions: Collection[Question]) -> Mapping[Question, Answer]:
        """Give an answer to each question, an old one as long as it is good."""
        futures = {question: self._future(question) for question in questions}
        await asyncio.wait(futures.values()) if futures else None
        return {question: future.result() for question, future in futures.items()}

    async def close(self) -> None:
        """Give up what is being asked."""
        for task in self._asking:
            task.cancel()
        await asyncio.gather(*self._asking, return_exceptions=True)

    def _future(self, question: Question) -> asyncio.Future[Answer]:
        loop = asyncio.get_running_loop()
        kept = self._kept.get(question)
        if kept is None or not kept.is_good(loop.time(), self._refresh_s):
            kept = self._kept[question] = _Kept(asked_s=loop.time(), answer=loop.create_future())
            self._waiting.append(question)
            if len(self._waiting) == 1:
                task = loop.create_task(self._ask_waiting())
                self._asking.add(task)
                task.add_done_callback(self._asking.discard)
        return kept.answer

    async def _ask_waiting(self) -> None:
        await asyncio.sleep(_LINGER_S)
        questions, self._waiting = self._waiting, []
        self._forget()
        futures = {question: self._kept[question].answer for question in questions}
        found = await self._answered(questions)
        for question, future in futures.items():
            if not future.done():
                future.set_result(found.get(question, Missing(why="there was no answer to it")))

    async def _answered(self, questions: Sequence[Question]) -> Mapping[Question, Answer]:
        limit_s = self._limit(len(questions)).total_seconds()
        try:
            async with asyncio.timeout(limit_s):
                return await self._ask(questions)
        except TimeoutError:
            why = f"there was no answer within {limit_s:g} s"
        except HeadgateError as error:
            why = str(error)
        except Exception as error:  # noqa: BLE001 - whatever an adapter has overlooked is the signals' failure alone
            why = f"{type(error).__name__}: {error}"
        return dict.fromkeys(questions, Missing(why=why))

    def _forget(self) -> None:
        oldest_s = asyncio.get_running_loop().time() - max(_FORGET_S, 2 * self._refresh_s)
        self._kept = {
            question: kept
            for question, kept in self._kept.items()
            if kept.asked_s >= oldest_s or not kept.answer.done()
        }
