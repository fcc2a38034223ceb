"""Asks the brokers of one Kafka cluster, outside of the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, TypeVar

from headgate.config.secrets import redact, resolve
from headgate.errors import ConfigError, RefusedError, UnreachableError
from headgate.kafka.asking import Asking, reason

T = TypeVar("T")
_LONGEST = 300


class Login(Protocol):
    """How to get in, as options tell it. Secrets come as `${env:NAME}` or `${file:PATH}`."""

    @property
    def url(self) -> str:
        """The brokers, `host:port,host:port`."""

    @property
    def username(self) -> str:
        """Name for SASL; empty without."""

    @property
    def password(self) -> str:
        """Password that goes with it."""

    @property
    def ca_file(self) -> Path | None:
        """Certificates to trust; None: the system's."""

    @property
    def settings(self) -> Mapping[str, str]:
        """Further settings by the client's own names."""

    @property
    def timeout(self) -> timedelta:
        """Time limit of one call."""


class KafkaAdmin:
    """
    A client of one cluster, in a thread of its own, since its calls block.

    After a failure it is made anew, as one whose broker went away may never answer again.
    """

    def __init__(self, name: str, login: Login) -> None:
        """
        Open nothing yet.

        Args:
            name: how failures call it.
            login: how to get in.

        Raises:
            ConfigError: the driver is not installed.
        """
        self.name = name
        self._login = login
        try:
            # An extra: only who declares a Kafka cluster needs it, or waits for its import.
            self._kafka: Any = import_module("confluent_kafka")
            self._admin: Any = import_module("confluent_kafka.admin")
        except ModuleNotFoundError as error:
            message = f"{name}: the driver of kafka is missing. Hint: pip install headgate[kafka]"
            raise ConfigError([message]) from error
        self._thread = ThreadPoolExecutor(1, f"kafka-{name}")
        self._client: Any = None
        self._secrets: tuple[str, ...] = ()
        self._said = ""

    async def ask(self, question: Callable[[Asking], T]) -> T:
        """
        Ask in the thread; each call keeps to the time limit.

        Raises:
            RefusedError: a secret is not there.
            UnreachableError: the brokers do not answer, or do not let us in.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._answer, question)

    def close(self) -> None:
        """Let go of the client, without waiting for brokers that do not answer."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._client = None

    def _answer(self, question: Callable[[Asking], T]) -> T:
        limit_s = self._login.timeout.total_seconds()
        try:
            return question(Asking(self._opened(), self._kafka, self._admin, name=self.name, limit_s=limit_s))
        except (self._kafka.KafkaException, TimeoutError) as error:
            late = f"there was no answer within {limit_s:g} s"
            why = late if isinstance(error, TimeoutError) else reason(error)
            message = redact(f"{self.name}: {why}{self._trouble()}", self._secrets)
            self._client = None
            raise UnreachableError(message) from None

    def _note(self, error: Any) -> None:
        self._said = error.str()[:_LONGEST]

    def _trouble(self) -> str:
        """Give what the client said beside a call that failed: of a login that was refused it tells only so."""
        if self._client is not None:
            self._client.poll(0)
        said, self._said = self._said, ""
        return f" ({said})" if said else ""

    def _opened(self) -> Any:
        if self._client is None:
            self._client = self._admin.AdminClient(self._settings())
        return self._client

    def _settings(self) -> Mapping[str, Any]:
        login = self._login
        try:
            settings = {name: resolve(value) for name, value in login.settings.items()}
            password, brokers = resolve(login.password), resolve(login.url)
        except ValueError as error:
            message = f"{self.name} cannot be asked: {error}"
            raise RefusedError(message) from error
        self._secrets = (password, *settings.values())
        sasl = {"sasl.username": login.username, "sasl.password": password} if login.username else {}
        trust = {"ssl.ca.location": str(login.ca_file)} if login.ca_file else {}
        quiet: dict[str, Any] = {
            "log_level": 0,
            "error_cb": self._note,
            "socket.timeout.ms": max(10, round(1000 * login.timeout.total_seconds())),
        }
        return {**quiet, **sasl, **trust, **settings, "bootstrap.servers": brokers}
