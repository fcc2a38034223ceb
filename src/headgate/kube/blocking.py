"""Kubernetes' API for code in threads: what is asked runs on a loop of its own, so that one connection serves all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError
from threading import Lock, Thread
from typing import Any, TypeVar

from headgate.errors import UnreachableError
from headgate.kube.api import KubernetesApi
from headgate.kube.login import Login

T = TypeVar("T")


class BlockingApi:
    """
    A `KubernetesApi` behind a thread, which starts with the first call and ends with `close`.

    Safe to call from several threads, but not from one that has a running loop: it would stand still.
    """

    def __init__(self, login: Login, *, subject: str) -> None:
        """
        Connect to nothing yet.

        Args:
            login: where the API is, and by whom it is called.
            subject: what the calls are about, for texts.
        """
        self._api = KubernetesApi(login, subject=subject)
        self._name = subject
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None

    def run(self, work: Callable[[KubernetesApi], Coroutine[Any, Any, T]]) -> T:
        """
        Do some calls and wait for them; each call has the login's time limit.

        Raises:
            UnreachableError: it was closed meanwhile.
            Exception: whatever the work raises.
        """
        try:
            return asyncio.run_coroutine_threadsafe(work(self._api), self._running()).result()
        except CancelledError as error:
            message = f"{self._name}: Kubernetes is asked no more"
            raise UnreachableError(message) from error

    def close(self) -> None:
        """Give up calls under way, and let go of connection and thread; a later call has others."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._end(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    async def _end(self) -> None:
        under_way = asyncio.all_tasks() - {asyncio.current_task()}
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        await self._api.close()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = Thread(target=self._loop.run_forever, name=f"headgate-{self._name}", daemon=True)
                self._thread.start()
            return self._loop
