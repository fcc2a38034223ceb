"""
Kills the process that it runs in, for real, right before or right after a call of a port.

A run without a kill tells which calls there are; for each of them there are two points to be killed at. What must hold
then is for the caller to say, from another process.
"""

from __future__ import annotations

import inspect
import os
import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from threading import Lock
from typing import Any, Self, TypeVar, cast

P = TypeVar("P")


class Moment(StrEnum):
    """On which side of a call."""

    BEFORE = "before"
    AFTER = "after"
    """Also of one that raised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KillPoint:
    """Where to die; as text `before save #2`."""

    moment: Moment
    call: str
    """The method's name."""
    number: int
    """Which call of this name, from 1."""

    def __str__(self) -> str:
        """Write it as `parse` reads it."""
        return f"{self.moment} {self.call} #{self.number}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """
        Read what `str` wrote.

        Raises:
            ValueError: it reads otherwise.
        """
        moment, call, number = text.split()
        return cls(moment=Moment(moment), call=call, number=int(number.removeprefix("#")))


class Calls:
    """
    Counts the calls of all ports that are given to `mortal` with it, and dies at one of them if told to.

    Attributes:
        points: both sides of every call that was made, in the order in which the calls began.
    """

    def __init__(self, kill: KillPoint | None = None) -> None:
        """Begin to count; without `kill` nothing ever happens."""
        self.points: list[KillPoint] = []
        self._kill = kill
        self._made: Counter[str] = Counter()
        self._lock = Lock()  # stores and sinks are called from threads

    @contextmanager
    def around(self, call: str) -> Iterator[None]:
        """Count a call, and die on either side of it if it is the one."""
        with self._lock:
            self._made[call] += 1
            before, after = (KillPoint(moment=moment, call=call, number=self._made[call]) for moment in Moment)
            self.points += [before, after]
        self._pass(before)
        try:
            yield
        finally:
            self._pass(after)

    def _pass(self, point: KillPoint) -> None:
        if point == self._kill:
            os.kill(os.getpid(), signal.SIGKILL)


def mortal(port: P, calls: Calls, *, only: Collection[str] | None = None) -> P:
    """
    Give a port whose public methods, plain or async, are counted and may be the process's last.

    Args:
        port: any object.
        calls: counts them, together with those of other ports.
        only: the methods that count; all by default.
    """
    return cast("P", _Mortal(port, calls, only))


class _Mortal:
    """Stands in front of a port; what is no counted method is handed through."""

    def __init__(self, port: object, calls: Calls, only: Collection[str] | None) -> None:
        self._port = port
        self._calls = calls
        self._only = only

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._port, name)
        if name.startswith("_") or not callable(found) or (self._only is not None and name not in self._only):
            return found
        return self._awaited(name, found) if inspect.iscoroutinefunction(found) else self._called(name, found)

    def _awaited(self, name: str, method: Callable[..., Awaitable[object]]) -> Callable[..., Awaitable[object]]:
        async def counted(*arguments: object, **named: object) -> object:
            with self._calls.around(name):
                return await method(*arguments, **named)

        return counted

    def _called(self, name: str, method: Callable[..., object]) -> Callable[..., object]:
        def counted(*arguments: object, **named: object) -> object:
            with self._calls.around(name):
                return method(*arguments, **named)

        return counted
