"""One call of Kubernetes' API through the official client, bounded in time, with its answers in Headgate's errors."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import aiohttp

from headgate.errors import ConflictError, HeadgateError, NotFoundError, RefusedError, UnreachableError
from headgate.kube.connection import Connection
from headgate.kube.login import Login

MERGE_PATCH = "application/merge-patch+json"
"""Custom resources take this one; the client's usual one they refuse with 415."""
_LONGEST_TEXT = 300

Query = Sequence[tuple[str, str]]
Body = Mapping[str, Any]


class Answered(Exception):  # noqa: N818 - an answer, which whoever asked may have expected
    """The API answered other than yes."""

    def __init__(self, status: int, said: str, reason: str = "") -> None:
        """Keep status, text, and the API's own word for it, such as `AlreadyExists`."""
        super().__init__(said)
        self.status = status
        self.said = said
        self.reason = reason


class KubernetesApi:
    """Connects at the first call, and anew after one that was not let in."""

    def __init__(self, login: Login, *, subject: str) -> None:
        """
        Connect to nothing yet.

        Args:
            login: where the API is, and by whom it is called.
            subject: what the calls are about, for texts.
        """
        self._login = login
        self._subject = subject
        self._connection: Connection | None = None
        self._opening = asyncio.Lock()

    async def call(self, method: str, path: str, *, query: Query = (), body: Body | None = None) -> Any:
        """
        Ask, and give the decoded JSON; a PATCH is a merge patch.

        Raises:
            Answered: other than yes; `translated` tells what it means.
            UnreachableError: no answer, or none that makes sense.
            RefusedError: there is no kubeconfig, or it makes no sense.
        """
        try:
            connection = await self._connected()
            async with connection as client, asyncio.timeout(self._login.time_limit.total_seconds()):
                status, text = await _send(client, method, path, query=list(query), body=body)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            why = str(error) or f"no answer within {self._login.time_limit.total_seconds():g} s"
            message = f"{self._subject}: Kubernetes cannot be reached: {why}"
            raise UnreachableError(message) from error
        if status >= HTTPStatus.BAD_REQUEST:
            if status == HTTPStatus.UNAUTHORIZED:
                await self._let_go(connection)
            raise _answered(status, text)
        return self._decoded(text)

    async def ask(self, method: str, path: str, *, right: str, query: Query = (), body: Body | None = None) -> Any:
        """
        Ask, where nothing but yes is expected.

        Args:
            method: HTTP's.
            path: below the API's address.
            right: what a role must allow for it, such as `get on pods`.
            query: parameters.
            body: sent as JSON.

        Raises:
            HeadgateError: as `translated` tells, or as `call` does.
        """
        try:
            return await self.call(method, path, query=query, body=body)
        except Answered as answer:
            raise self.translated(answer, right) from answer

    def translated(self, answer: Answered, right: str) -> HeadgateError:
        """Give what an answer other than yes means for whoever asked."""
        said = f"{self._subject}: {answer.said}"
        match answer.status:
            case HTTPStatus.UNAUTHORIZED:
                return RefusedError(f"{said}. Hint: the token or certificate does not hold, or not any more")
            case HTTPStatus.FORBIDDEN:
                return RefusedError(f"{said}. Hint: its role needs the verb {right}")
            case HTTPStatus.NOT_FOUND:
                return NotFoundError(said)
            case HTTPStatus.CONFLICT:
                return ConflictError(said)
            case status if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                return UnreachableError(said)
        return RefusedError(said)

    async def close(self) -> None:
        """Let go of the connection, which ends with the last call under way; a later call connects anew."""
        if self._connection is not None:
            await self._let_go(self._connection)

    async def _connected(self) -> Connection:
        limit_s = self._login.opening_limit.total_seconds()
        try:
            async with asyncio.timeout(limit_s), self._opening:  # of calls that begin together only one connects
                if self._connection is None:
                    self._connection = Connection(await self._login.open())
                return self._connection
        except TimeoutError as error:
            message = f"{self._subject}: no credentials for Kubernetes within {limit_s:g} s"
            raise UnreachableError(message) from error

    async def _let_go(self, connection: Connection) -> None:
        if self._connection is connection:
            self._connection = None
            await connection.retire()

    def _decoded(self, text: str) -> Any:
        try:
            return json.loads(text)
        except ValueError as error:
            message = f"{self._subject}: Kubernetes answered with something that is no JSON: {text[:_LONGEST_TEXT]}"
            raise UnreachableError(message) from error


async def _send(
    client: Any, method: str, path: str, *, query: list[tuple[str, str]], body: Body | None
) -> tuple[int, str]:
    content_type = MERGE_PATCH if method == "PATCH" else "application/json"
    headers = {"Accept": "application/json", "Content-Type": content_type}
    request = await client.param_serialize(
        method, path, query_params=query, header_params=headers, body=body, auth_settings=["BearerToken"]
    )
    answer = await client.call_api(*request)
    return answer.status, (await answer.read()).decode(errors="replace")


def _answered(status: int, text: str) -> Answered:
    """Take the server's own words; some answers are no JSON."""
    try:
        found = json.loads(text)
        return Answered(status, str(found["message"]), str(found.get("reason", "")))
    except (TypeError, ValueError, KeyError):
        return Answered(status, f"status {status}: {text.strip()[:_LONGEST_TEXT]}")
