"""The threads for what blocks: calls of one kind do not wait for those of another, nor does the end of the process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from itertools import count
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_Job = Callable[[], None]


async def in_threads(threads: Executor | None, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what a blocking call returns, made in one of the threads; None stands for those of the event loop."""
    return await asyncio.get_running_loop().run_in_executor(threads, partial(call, *args, **kwargs))


class DaemonExecutor(ThreadPoolExecutor):
    """
    As many threads for an event loop as there are calls at once, whose end nothing waits for.

    Those of `ThreadPoolExecutor` are few, so that slow calls, as writes to an object store, hold up all others, even a
    lookup of an address; and Python joins them when it exits, so that a call that hangs, as in a dying JVM,
    keeps the process.
    """

    def __init__(self) -> None:
        """Start no thread yet."""
        super().__init__(max_workers=1)
        self._calls: SimpleQueue[_Job | None] = SimpleQueue()
        self._idle = Semaphore(0)
        self._numbers = count()
        self._started: list[Thread] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call the function in a thread that has nothing else to do."""
        future: Future[Any] = Future()
        self._calls.put(lambda: _call(future, fn, *args, **kwargs))
        if not self._idle.acquire(blocking=False):
            thread = Thread(target=self._work, name=f"headgate-{next(self._numbers)}", daemon=True)
            self._started.append(thread)
            thread.start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 - as in the class above
        """Let each thread end after what it is at."""
        for _ in self._started:
            self._calls.put(None)

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call()
            self._idle.release()


def _call(future: Future[Any], fn: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = fn(*args, **kwargs)
    except BaseException as error:  # noqa: BLE001 - handed to whoever awaits it
        future.set_exception(error)
    else:
        future.set_result(result)
