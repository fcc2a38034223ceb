"""
An async client of one cluster's REST interface: bounded calls, one time limit each, failures in Headgate's errors.

It knows no endpoint. What an answer means is a function that the caller brings along.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import timedelta
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self, TypeVar

import aiohttp
import stamina

from headgate.engines.flink.access import Access
from headgate.engines.flink.failures import RetriedError, failure_of
from headgate.engines.flink.turns import Turn, Turns
from headgate.errors import HeadgateError, UnreachableError
from headgate.http_client import reason_of
from headgate.options.service import ClusterOptions

T = TypeVar("T")
_ATTEMPTS = 3
_PAUSE_S = 0.05
_LONGEST_TEXT = 400


class FlinkClient:
    """
    Speaks to the JobManager of one cluster. The session opens with the first call; close it in the same event loop.

    Closed is for good: a call that somebody still had under way must not open connections that nobody closes.
    At most `max_calls_in_flight` calls are open at once. `request_timeout` bounds each call with all its retries;
    waiting for one's turn is not part of it. `Turns` says who gives way when others wait.
    """

    def __init__(self, options: ClusterOptions) -> None:
        """Keep the options; nothing is resolved or opened yet."""
        self.cluster = options.name
        self._options = options
        self._limit_s = options.request_timeout.total_seconds()
        self._turns = Turns(options.max_calls_in_flight, cluster=options.name)
        self._access: Access | None = None
        self._session: aiohttp.ClientSession | None = None
        self._closed = False
        self._retry = stamina.AsyncRetryingCaller(
            attempts=_ATTEMPTS - 1,
            timeout=self._limit_s,
            wait_initial=_PAUSE_S,
            wait_max=4 * _PAUSE_S,
            wait_jitter=_PAUSE_S,
        ).on(RetriedError)

    async def get(self, path: str, read: Callable[[Any], T]) -> T:
        """
        Ask, and read the answer. Lost connections, time-outs and 502 to 504 are tried again within the time limit.

        Args:
            path: path with query, encoded.
            read: makes a value of the decoded JSON.

        Raises:
            NotFoundError: what the path names does not exist.
            RefusedError: Flink understood and said no.
            UnreachableError: no answer, or none that `read` understands.
        """
        return self._read("GET", path, await self._bounded("GET", path), read)

    async def put(self, path: str, body: object) -> None:
        """
        Send a body; the answer is not looked at. An unanswered one is left to the caller: who knows what it did?

        Only a kept connection that turns out to be dead is replaced, once, by the HTTP library, as for any
        idempotent method: the same body twice must do no harm.

        Raises:
            NotFoundError: what the path names does not exist.
            RefusedError: Flink understood and said no.
            UnreachableError: no answer; it is not known whether the request was carried out.
        """
        await self._bounded("PUT", path, body)

    async def post(self, path: str, body: object, read: Callable[[Any], T], *, limit: timedelta | None = None) -> T:
        """
        Send a body once, and read the answer; never tried again: what it names may exist since.

        Args:
            path: path with query, encoded.
            body: sent as JSON; the content of a form as it is.
            read: makes a value of the decoded JSON.
            limit: instead of `request_timeout`, for what takes its time.

        Raises:
            NotFoundError: what the path names does not exist.
            RefusedError: Flink understood and said no.
            UnreachableError: no answer, or none that `read` understands; the request may have been carried out.
        """
        return self._read("POST", path, await self._bounded("POST", path, body, limit), read)

    async def patch(self, path: str) -> None:
        """
        Send a request without a body; the answer is not looked at.

        Raises:
            NotFoundError: what the path names does not exist.
            RefusedError: Flink understood and said no.
            UnreachableError: no answer; it is not known whether the request was carried out.
        """
        await self._bounded("PATCH", path)

    async def close(self) -> None:
        """Close the connections; whoever asks from now on is told that it cannot be reached."""
        self._closed = True
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def __aenter__(self) -> Self:
        """Open nothing yet."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections."""
        await self.close()

    async def _bounded(self, method: str, path: str, body: object = None, limit: timedelta | None = None) -> bytes:
        limit_s = self._limit_s if limit is None else limit.total_seconds()
        async with self._turns.take(path, limit_s=limit_s, reads=method == "GET") as turn:
            try:
                async with turn.bounded():
                    return await self._send(method, path, body)
            except TimeoutError as error:
                # one text for both, so that what repeats is one event
                less = ", or less where that keeps others waiting" if method == "GET" else ""
                text = f"{self._call(method, path)} was not answered within {limit_s:g} s{less}"
                raise UnreachableError(text) from error
            except RetriedError as failure:
                if method != "GET":
                    raise
                return await self._again(path, turn, failure)

    async def _again(self, path: str, turn: Turn, failure: RetriedError) -> bytes:
        """Ask again while the turn lasts; the first failure tells more than that time has run out."""
        try:
            async with turn.bounded():
                await asyncio.sleep(_PAUSE_S)
                return await self._retry(self._send, "GET", path)
        except TimeoutError:
            raise failure from None

    async def _send(self, method: str, path: str, body: object = None) -> bytes:
        call = self._call(method, path)
        access, session = self._open()
        content_of = {"data": body} if isinstance(body, aiohttp.FormData) else {"json": body}
        try:
            headers = await access.request_headers()
            async with session.request(
                method, access.url(path), headers=headers, allow_redirects=False, **content_of
            ) as response:
                content = await response.read()
        except (aiohttp.ClientError, OSError) as error:
            # not chained: a traceback would print the cause, whose text nobody has redacted
            text = f"{call} failed: {reason_of(error)}"
            raise RetriedError(access.redact(text)) from None
        except ValueError as error:
            raise UnreachableError(access.redact(f"{call} could not be sent: {error}")) from None
        if response.status >= HTTPStatus.MULTIPLE_CHOICES:
            failure = failure_of(response.status, content.decode(errors="replace"), call)
            raise type(failure)(access.redact(str(failure)))
        return content

    def _open(self) -> tuple[Access, aiohttp.ClientSession]:
        if self._closed:
            message = f"cluster {self.cluster} is not asked any more: its client is closed"
            raise UnreachableError(message)
        if self._access is None:
            self._access = self._resolve_access()
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ssl=self._access.tls),
                proxy=self._access.proxy,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._limit_s / _ATTEMPTS),
                json_serialize=json.dumps,
            )
        return self._access, self._session

    def _resolve_access(self) -> Access:
        try:
            return Access.of(self._options)
        except ValueError as error:
            message = f"cluster {self.cluster} cannot be asked: {error}"
            raise UnreachableError(message) from error

    def _read(self, method: str, path: str, content: bytes, read: Callable[[Any], T]) -> T:
        try:
            return read(json.loads(content))
        except HeadgateError:
            raise
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            text = f"{self._call(method, path)} gave an answer that is not understood: {type(error).__name__}: {error}"
            redacted = self._access.redact(text) if self._access else text
            raise UnreachableError(redacted[:_LONGEST_TEXT]) from error

    def _call(self, method: str, path: str) -> str:
        return f"cluster {self.cluster}: {method} {path.partition('?')[0]}"
