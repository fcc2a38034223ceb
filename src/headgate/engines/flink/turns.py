"""
Whose turn it is to ask a cluster: a bounded number of calls at once, and a job that hangs does not keep the others out.

With 16 calls at once, 16 jobs that never answer would hold up a thousand that do. So a call about a job gives way when
it has been open for much longer than answers usually take, and others wait, or many others were answered meanwhile, or
the job was silent before. One that was silent and in the way of others rests for a while. A job that is alone with its
cluster has all its time, and so has every job of a cluster that stands still as a whole, unless others wait.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from zlib import crc32

from headgate.errors import UnreachableError

REST_S = 30
"""How long a job rests at least; up to twice as long, by its id, so that resting jobs do not all come back at once."""
SILENCES = 2
"""So many calls without an answer make a job silent: a cluster may stand still for once."""

_JOB = re.compile(r"/jobs/([0-9a-f]{32})(?:/|\?|$)")
_SLOW = 10
"""Times the usual, or this part of the time limit if that is more: what is open for longer gives way."""
_WEIGHT = 1 / 8
"""Of the newest answer in what is usual."""


class Turn:
    """
    One call's turn.

    Attributes:
        answered: False once it ended without an answer.
        gave_way: whether it was ended for others.
    """

    def __init__(self, deadline: float) -> None:
        """Last until then, on the event loop's clock."""
        self.answered = True
        self.gave_way = False
        self._deadline = deadline
        self._limit: asyncio.Timeout | None = None

    @asynccontextmanager
    async def bounded(self) -> AsyncIterator[None]:
        """Bound what is awaited within; a `TimeoutError` comes out when the turn is over."""
        try:
            async with asyncio.timeout_at(self._deadline) as self._limit:
                yield
        except (TimeoutError, asyncio.CancelledError):
            self.answered = False
            raise

    def give_way(self) -> None:
        """End it now."""
        self.gave_way = True
        self._deadline = _now_s()
        if self._limit is not None and not self._limit.expired():
            self._limit.reschedule(self._deadline)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Silence:
    """A job that has not answered since."""

    calls: int
    rests_until_s: float

    @property
    def is_known(self) -> bool:
        return self.calls >= SILENCES


_ANSWERS = _Silence(calls=0, rests_until_s=0.0)


class Turns:
    """Hands out the turns of one cluster, all in one event loop."""

    def __init__(self, most: int, *, cluster: str, rest_s: float = REST_S) -> None:
        """Let so many calls to the cluster be open at once."""
        self._cluster = cluster
        self._rest_s = rest_s
        self._most = most
        self._free = asyncio.Semaphore(most)
        self._waiting = 0
        self._answers = 0
        self._usual_s: float | None = None
        self._silent: dict[str, _Silence] = {}

    @asynccontextmanager
    async def take(self, path: str, *, limit_s: float, reads: bool) -> AsyncIterator[Turn]:
        """
        Wait for a turn and hold it.

        Args:
            path: what is asked; of paths of one job it is known whether that answers.
            limit_s: how long the turn may last.
            reads: whether the call only reads: one that changes something is neither ended early nor refused.

        Raises:
            UnreachableError: the job that it is about rests.
        """
        job = _job_of(path) if reads else None
        self._refuse_resting(job)
        await self._acquire()
        began_s, answers = _now_s(), self._answers
        turn = Turn(began_s + limit_s)
        watch = _Watch(lambda: self._is_in_the_way(job, answers), turn, self._patience_s(limit_s))
        try:
            yield turn
        finally:
            watch.stop()
            self._note(job, turn, _now_s() - began_s)
            self._free.release()

    def _is_in_the_way(self, job: str | None, answers: int) -> bool:
        """Tell whether a call that is slow, begun after so many answers, should end."""
        if job is None:
            return False
        overtaken = self._answers - answers >= self._most
        return self._waiting > 0 or overtaken or self._silence(job).is_known

    async def _acquire(self) -> None:
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1

    def _refuse_resting(self, job: str | None) -> None:
        silence = self._silence(job)
        if silence.is_known and _now_s() < silence.rests_until_s:
            why = "it did not answer lately, while others waited for their turn"
            message = f"cluster {self._cluster}: job {job} is not asked for now: {why}"
            raise UnreachableError(message)

    def _silence(self, job: str | None) -> _Silence:
        return self._silent.get(job or "", _ANSWERS)

    def _patience_s(self, limit_s: float) -> float:
        return limit_s if self._usual_s is None else min(limit_s, max(limit_s / _SLOW, _SLOW * self._usual_s))

    def _note(self, job: str | None, turn: Turn, took_s: float) -> None:
        """Learn from a call that is over; a refusal is an answer too."""
        if turn.answered:
            self._answers += 1
            self._silent.pop(job or "", None)
            self._usual_s = took_s if self._usual_s is None else self._usual_s + _WEIGHT * (took_s - self._usual_s)
        elif job is not None:
            rest_s = self._rest_s * (1 + crc32(job.encode()) / 2**32) if self._waiting else 0.0
            self._silent[job] = _Silence(calls=self._silence(job).calls + 1, rests_until_s=_now_s() + rest_s)


class _Watch:
    """Looks at a turn every now and then, and ends it once it is to give way."""

    def __init__(self, is_in_the_way: Callable[[], bool], turn: Turn, patience_s: float) -> None:
        self._is_in_the_way = is_in_the_way
        self._turn = turn
        self._patience_s = patience_s
        self._again()

    def stop(self) -> None:
        self._handle.cancel()

    def _look(self) -> None:
        if self._is_in_the_way():
            self._turn.give_way()
        else:
            self._again()

    def _again(self) -> None:
        self._handle = asyncio.get_running_loop().call_later(self._patience_s, self._look)


def _job_of(path: str) -> str | None:
    found = _JOB.match(path)
    return found[1] if found else None


def _now_s() -> float:
    return asyncio.get_running_loop().time()
