"""Threads that hold nobody up: a driver that ends does not wait for whatever the agent is at."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from threading import Thread
from typing import Any

_THREADS = 4
_Job = Callable[[], None]


class DaemonExecutor(ThreadPoolExecutor):
    """
    A few threads for an event loop whose end nobody waits for.

    Those of `ThreadPoolExecutor` are joined when Python exits: a call that hangs in a dying JVM would hang the driver.
    """

    def __init__(self) -> None:
        """Start the threads."""
        super().__init__(max_workers=1)
        self._calls: SimpleQueue[_Job | None] = SimpleQueue()
        for number in range(_THREADS):
            Thread(target=self._work, name=f"headgate-{number}", daemon=True).start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call the function in one of the threads."""
        future: Future[Any] = Future()
        self._calls.put(lambda: _call(future, fn, *args, **kwargs))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 - as in the class above
        """Let each thread end after what it is at."""
        for _ in range(_THREADS):
            self._calls.put(None)

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call()


def _call(future: Future[Any], fn: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = fn(*args, **kwargs)
    except BaseException as error:  # noqa: BLE001 - handed to whoever awaits it
        future.set_exception(error)
    else:
        future.set_result(result)
