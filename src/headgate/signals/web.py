"""HTTP for signal sources: who asks is told by token or password, every call has a limit, every failure a sentence."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import aiohttp
from yarl import URL

from headgate.config.secrets import redact, resolve
from headgate.errors import RefusedError, UnreachableError
from headgate.http_client import proxy_of, reason_of, trusted
from headgate.options.signals import SignalSourceOptions

_LARGEST = 16 * 2**20
_LONGEST_TEXT = 300
_REFUSALS = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})


class Web:
    """
    Asks one HTTP service for JSON. Redirects are not followed: they would carry the credentials elsewhere.

    The session opens with the first call; close it in the same event loop.
    """

    def __init__(self, options: SignalSourceOptions) -> None:
        """Keep the options; nothing is resolved or opened yet."""
        self._options = options
        self._turns = asyncio.Semaphore(options.max_calls_in_flight)
        self._session: aiohttp.ClientSession | None = None
        self._closed = False

    async def get(self, path: str = "") -> tuple[HTTPStatus, Any]:
        """
        Ask for what follows the address of the service; give status and decoded JSON.

        Raises:
            RefusedError: the credentials are not accepted, or one cannot be had.
            UnreachableError: no answer, a failure of the server, or something that is no JSON.
        """
        return await self._send("GET", path, None)

    async def post(self, path: str, form: Mapping[str, str]) -> tuple[HTTPStatus, Any]:
        """Send a form; otherwise as `get`."""
        return await self._send("POST", path, form)

    async def close(self) -> None:
        """Close the connections for good: a call under way that goes on must not open what nobody closes."""
        self._closed = True
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _send(self, method: str, path: str, form: Mapping[str, str] | None) -> tuple[HTTPStatus, Any]:
        limit_s = self._options.timeout.total_seconds()
        secrets: list[str] = []
        try:
            async with self._turns, asyncio.timeout(limit_s):
                # in a thread: what is read may be on a disk that is slow
                secrets, url, headers = await asyncio.to_thread(self._resolved)
                status, content = await self._exchange(method, url + path, form, headers)
        except TimeoutError:
            message = f"{self._options.name} did not answer within {limit_s:g} s"
            raise UnreachableError(message) from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # not chained: a traceback would print the cause, whose text nobody has redacted
            message = redact(f"{self._options.name} cannot be asked: {reason_of(error)}", secrets)
            raise UnreachableError(message) from None
        return status, self._decoded(status, content, secrets)

    async def _exchange(
        self, method: str, url: str, form: Mapping[str, str] | None, headers: Mapping[str, str]
    ) -> tuple[HTTPStatus, bytes]:
        async with self._open().request(
            method, url, data=form, headers=headers, allow_redirects=False, proxy=proxy_of(url)
        ) as response:
            content = await response.content.read(_LARGEST + 1)
            while len(content) <= _LARGEST and (more := await response.content.read(_LARGEST)):
                content += more
            return HTTPStatus(response.status), content

    def _decoded(self, status: HTTPStatus, content: bytes, secrets: list[str]) -> Any:
        name = self._options.name
        if status in _REFUSALS:
            message = f"{name} answered {status}: the credentials are not accepted"
            raise RefusedError(message)
        if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
            message = f"{name} answered {status}, a redirect. Hint: declare the address that it leads to"
            raise RefusedError(message)
        if len(content) > _LARGEST:
            message = f"{name} answered with more than {_LARGEST} bytes"
            raise UnreachableError(message)
        text = content.decode(errors="replace")
        try:
            return json.loads(text)
        except ValueError:
            begin = redact(" ".join(text.split())[:_LONGEST_TEXT], secrets)
            message = f"{name} answered {status} with something that is no JSON: {begin or 'nothing'}"
            raise UnreachableError(message) from None

    def _open(self) -> aiohttp.ClientSession:
        if self._closed:
            message = f"{self._options.name} is not asked any more: it is closed"
            raise UnreachableError(message)
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ssl=trusted(self._options.ca_file)),
                timeout=aiohttp.ClientTimeout(total=None),
            )
        return self._session

    def _resolved(self) -> tuple[list[str], str, Mapping[str, str]]:
        """Look secrets up, anew each time so that they may rotate."""
        options = self._options
        try:
            url = resolve(options.url).rstrip("/")
            headers = {name: resolve(value) for name, value in options.headers.items()}
            token, password = resolve(options.token).strip(), resolve(options.password)
        except ValueError as error:
            message = f"{options.name} cannot be asked: {error}"
            raise RefusedError(message) from error
        secrets = [*headers.values(), token, password]
        if token:
            headers["Authorization"] = f"Bearer {token}"
        elif options.username:
            login = b64encode(f"{options.username}:{password}".encode()).decode()
            headers["Authorization"] = f"Basic {login}"
            secrets.append(login)
        passwords = (URL(address).password or "" for address in (url, proxy_of(url) or ""))
        return [*secrets, *passwords], url, headers
