"""Blocking calls into the JVM from a coroutine: one thread makes them in turn, and none waits for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from headgate.errors import UnreachableError

T = TypeVar("T")


class Calls:
    """
    A thread of its own, which never keeps the driver from ending.

    Each thread that talks to the JVM has a connection and a JVM thread of its own there: hence one for all calls.
    """

    def __init__(self, limit_s: float = 10.0) -> None:
        """Start no thread yet; `limit_s` bounds a call, those before it included."""
        self._limit_s = limit_s
        self._queue: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = SimpleQueue()
        self._thread: Thread | None = None

    async def make(self, call: Callable[[], T]) -> T:
        """
        Make a call and give its answer.

        Raises:
            UnreachableError: it took too long; it may still go on.
        """
        if self._thread is None:
            self._thread = Thread(target=self._serve, name="headgate-calls", daemon=True)
            self._thread.start()
        future: Future[T] = Future()
        self._queue.put((call, future))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._limit_s)
        except TimeoutError as error:
            message = f"the driver's JVM gave no answer within {self._limit_s:g} s"
            raise UnreachableError(message) from error

    def close(self) -> None:
        """Let the thread end when it has made the calls that wait; none may be made after that."""
        self._queue.put(None)

    def _serve(self) -> None:
        while work := self._queue.get():
            call, future = work
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(call())
            except BaseException as error:  # noqa: BLE001 - whoever asked is told, whatever it is
                future.set_exception(error)
