"""
Events as JSON over HTTP, signed, to one receiver.

It delivers or raises, within its time limit: `QueuedEventHandler` in front of it keeps its waiting out of the cycle.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from concurrent.futures import CancelledError
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Self

import aiohttp
import stamina
from yarl import URL

from headgate.config.secrets import Secret, redact, resolve
from headgate.errors import ConfigError, RefusedError, UnreachableError
from headgate.events.delivery import identity_of, json_of
from headgate.events.signature import HEADER, sign
from headgate.http_client import LoopThread, proxy_of, reason_of, trusted
from headgate.model.events import Event
from headgate.options.events import WebhookEventOptions

IDENTITY = "Idempotency-Key"
"""Header that is the same whenever the same happening is posted."""

_ATTEMPTS = 3
_PAUSE_S = 0.1
_REFUSALS = frozenset(
    {
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.GONE,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.UNPROCESSABLE_ENTITY,
    }
)
"""What is said of the event itself; every other answer may change when somebody mends receiver or options."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiver:
    """The resolved way to a receiver."""

    url: Secret
    secret: Secret | None = None
    headers: tuple[tuple[str, Secret], ...] = ()
    time_limit: timedelta = timedelta(seconds=10)
    trust: ssl.SSLContext | bool = True
    """Whose certificates are trusted; True: those that this machine trusts."""

    @classmethod
    def of(cls, options: WebhookEventOptions) -> Self:
        """
        Resolve what the options refer to.

        Raises:
            ConfigError: there is no URL, a variable is not set, or a file cannot be read, or is no certificate.
        """
        if options.url is None:
            raise ConfigError(["events.webhook.url is not set"])
        try:
            return cls(
                url=Secret(resolve(options.url)),
                secret=None if options.secret is None else Secret(resolve(options.secret)),
                headers=tuple((name, Secret(resolve(value))) for name, value in options.headers.items()),
                time_limit=options.time_limit,
                trust=trusted(options.ca_file),
            )
        except ValueError as error:
            raise ConfigError([f"events.webhook: {error}"]) from error

    def request_headers(self, event: Event, body: bytes) -> dict[str, str]:
        """Give the headers of one request; those that Headgate sets itself win."""
        headers = {name: value.reveal() for name, value in self.headers}
        headers |= {"Content-Type": "application/json", IDENTITY: identity_of(event)}
        if self.secret is not None:
            headers[HEADER] = sign(body, self.secret.reveal(), int(time.time()))
        return headers

    def redact(self, text: str) -> str:
        """Mask every secret in a text."""
        secrets = [self.url, *(value for _, value in self.headers), *([self.secret] if self.secret else [])]
        proxy = proxy_of(self.url.reveal())
        return redact(text, [*(secret.reveal() for secret in secrets), (proxy and URL(proxy).password) or ""])


class WebhookEventHandler:
    """
    Posts each event, and takes any 2xx for its delivery.

    Call it from a thread that has no event loop.
    """

    def __init__(self, receiver: Receiver) -> None:
        """Open nothing yet; the connection of an event is kept for the next one."""
        self._receiver = receiver
        self._thread = LoopThread("webhook")
        self._session: aiohttp.ClientSession | None = None

    def handle(self, event: Event, /) -> None:
        """
        Post the event; no answer, and a 5xx, are tried again at once, all within the time limit.

        Raises:
            UnreachableError: no answer, or none that says the event was taken; it may have been taken all the same.
            RefusedError: the receiver will not take this event (400, 410, 413, 422).
        """
        try:
            self._thread.run(self._deliver(event))
        except CancelledError as error:
            message = "the webhook is closed"
            raise UnreachableError(message) from error

    def close(self) -> None:
        """Give up what is under way, and let go of connection and thread."""
        self._thread.close(self._disconnect())

    async def _deliver(self, event: Event) -> None:
        limit_s = self._receiver.time_limit.total_seconds()
        retried = stamina.retry_context(
            on=UnreachableError, attempts=_ATTEMPTS, timeout=limit_s, wait_initial=_PAUSE_S, wait_jitter=_PAUSE_S
        )
        try:
            async with asyncio.timeout(limit_s):
                async for attempt in retried:
                    with attempt:
                        await self._post(event)
        except TimeoutError:
            text = f"the webhook did not answer within {limit_s:g} s"
            raise UnreachableError(text) from None

    async def _post(self, event: Event) -> None:
        body = json_of(event)
        headers = self._receiver.request_headers(event, body)
        try:
            async with self._open().post(
                self._receiver.url.reveal(), data=body, headers=headers, allow_redirects=False
            ) as answer:
                status = answer.status
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # not chained: a traceback would print the cause, whose text nobody has redacted
            text = self._receiver.redact(f"the webhook cannot be reached: {reason_of(error)}")
            raise UnreachableError(text) from None
        _judge(status)

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(ssl=self._receiver.trust),
                proxy=proxy_of(self._receiver.url.reveal()),
                timeout=aiohttp.ClientTimeout(total=None),
            )
        return self._session

    async def _disconnect(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()


def _judge(status: int) -> None:
    if status in _REFUSALS:
        message = f"the webhook refused the event with status {status}"
        raise RefusedError(message)
    if not HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        message = f"the webhook answered with status {status}"
        raise UnreachableError(message)
