"""
Events as JSON over HTTP, signed, to one receiver.

It delivers or raises, within its time limit: `QueuedEventHandler` in front of it keeps its waiting out of the cycle.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Self

import aiohttp
import stamina

from headgate.config.secrets import Secret, redact, resolve
from headgate.errors import ConfigError, RefusedError, UnreachableError
from headgate.events.delivery import identity_of, json_of
from headgate.events.signature import HEADER, sign
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

    @classmethod
    def of(cls, options: WebhookEventOptions) -> Self:
        """
        Resolve what the options refer to.

        Raises:
            ConfigError: there is no URL, a variable is not set, or a file cannot be read.
        """
        if options.url is None:
            raise ConfigError(["events.webhook.url is not set"])
        try:
            return cls(
                url=Secret(resolve(options.url)),
                secret=None if options.secret is None else Secret(resolve(options.secret)),
                headers=tuple((name, Secret(resolve(value))) for name, value in options.headers.items()),
                time_limit=options.time_limit,
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
        return redact(text, [secret.reveal() for secret in secrets])


class WebhookEventHandler:
    """
    Posts each event, and takes any 2xx for its delivery.

    Call it from a thread that has no event loop.
    """

    def __init__(self, receiver: Receiver) -> None:
        """Open nothing yet: each event has a connection of its own."""
        self._receiver = receiver

    def handle(self, event: Event, /) -> None:
        """
        Post the event; no answer, and a 5xx, are tried again at once, all within the time limit.

        Raises:
            UnreachableError: no answer, or none that says the event was taken; it may have been taken all the same.
            RefusedError: the receiver will not take this event (400, 410, 413, 422).
        """
        asyncio.run(self._deliver(event))

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
            async with (
                aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None)) as session,
                session.post(self._receiver.url.reveal(), data=body, headers=headers, allow_redirects=False) as answer,
            ):
                status = answer.status
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # not chained: a traceback would print the cause, whose text nobody has redacted
            text = self._receiver.redact(f"the webhook cannot be reached: {str(error) or type(error).__name__}")
            raise UnreachableError(text) from None
        _judge(status)


def _judge(status: int) -> None:
    if status in _REFUSALS:
        message = f"the webhook refused the event with status {status}"
        raise RefusedError(message)
    if not HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        message = f"the webhook answered with status {status}"
        raise UnreachableError(message)
