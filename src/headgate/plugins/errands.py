"""
Calls to plugins that the jobs of a cycle wait for: at most one a job is under way, and at most one waits its turn.

So whatever is slow, what waits for it does not grow from one cycle to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from threading import Lock
from typing import Any

from headgate.model.identity import JobKey

_Call = tuple[Future[Any], Callable[[], Any]]


class Errands:
    """Safe to use from several threads; whoever waits cancels what comes too late for it."""

    def __init__(self) -> None:
        """Have nothing under way."""
        self._lock = Lock()
        self._waiting: dict[JobKey, _Call] = {}
        self._running: set[JobKey] = set()

    def begin(self, pool: Executor, job: JobKey, call: Callable[[], Any]) -> Future[Any] | None:
        """Have a call made in a thread of the pool; None while an earlier one of the job is being made."""
        with self._lock:
            if job in self._running:
                return None
            has_a_place = job in self._waiting
            future: Future[Any] = Future()
            self._waiting[job] = future, call
        if not has_a_place:
            pool.submit(self._run, job)
        return future

    def _run(self, job: JobKey) -> None:
        with self._lock:
            future, call = self._waiting.pop(job)
            if not future.set_running_or_notify_cancel():
                return
            self._running.add(job)
        try:
            answer = call()
        except Exception as error:  # noqa: BLE001 - it is told to whoever waits
            self._end(job)
            future.set_exception(error)
        else:
            self._end(job)
            future.set_result(answer)

    def _end(self, job: JobKey) -> None:
        with self._lock:
            self._running.discard(job)
