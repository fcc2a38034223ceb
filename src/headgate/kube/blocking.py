"""Kubernetes' API for code in threads: what is asked runs on a loop of its own, so that one connection serves all."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from headgate.errors import UnreachableError
from headgate.http_client import LoopThread
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
        self._thread = LoopThread(subject)

    def run(self, work: Callable[[KubernetesApi], Coroutine[Any, Any, T]]) -> T:
        """
        Do some calls and wait for them; each call has the login's time limit.

        Raises:
            UnreachableError: it was closed meanwhile.
            Exception: whatever the work raises.
        """
        try:
            return self._thread.run(work(self._api))
        except CancelledError as error:
            message = f"{self._name}: Kubernetes is asked no more"
            raise UnreachableError(message) from error

    def close(self) -> None:
        """Give up calls under way, and let go of connection and thread; a later call has others."""
        self._thread.close(self._api.close())
