"""The few calls of Kubernetes' API that counting and setting replicas takes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import aiohttp

from headgate.errors import ConflictError, HeadgateError, NotFoundError, RefusedError, UnreachableError
from headgate.providers.kubernetes_login import Login

_MERGE = "application/merge-patch+json"
_ABSENT = "replicas field"
"""Of what is said of a resource that has a scale and no number in it yet, as an internal error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is scaled: one resource that has a scale subresource."""

    group: str
    version: str
    plural: str
    namespace: str
    name: str

    def __str__(self) -> str:
        """Name it as `kubectl` does."""
        return f"{self.plural}.{self.group}/{self.name} in namespace {self.namespace}"

    @property
    def scale(self) -> str:
        """Where its scale is."""
        place = f"/apis/{self.group}/{self.version}/namespaces/{self.namespace}"
        return f"{place}/{self.plural}/{self.name}/scale"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """What a scale subresource tells."""

    wanted: int | None
    """None: nobody has set it yet."""
    present: int = 0
    """Replicas that the controller has seen, ready or not."""
    selector: str = ""
    """Of their pods; empty where the resource does not tell."""


class _Answer(Exception):  # noqa: N818 - not for anybody else
    """One other than yes."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status = status
        self.said = said


class ScaleApi:
    """Reads and writes one scale; connects at the first call, and anew after one that was not let in."""

    def __init__(self, target: Target, login: Login) -> None:
        """Connect to nothing yet."""
        self._target = target
        self._login = login
        self._client: Any = None

    async def read(self) -> Scale:
        """
        Give the scale.

        Raises:
            HeadgateError: as `_translated` tells.
        """
        try:
            found = await self._call("GET", self._target.scale)
        except _Answer as answer:
            if answer.status == HTTPStatus.INTERNAL_SERVER_ERROR and _ABSENT in answer.said:
                return Scale(wanted=None)
            raise self._translated(answer, f"get on {self._scale}") from answer
        status = found.get("status", {})
        return Scale(
            # A number of 0 is left out of the answer.
            wanted=found.get("spec", {}).get("replicas", 0),
            present=status.get("replicas", 0),
            selector=status.get("selector", ""),
        )

    async def write(self, count: int) -> None:
        """
        Set the number of replicas, whoever set it before.

        Raises:
            HeadgateError: as `_translated` tells.
        """
        try:
            await self._call("PATCH", self._target.scale, body={"spec": {"replicas": count}})
        except _Answer as answer:
            raise self._translated(answer, f"patch on {self._scale}") from answer

    async def ready_pods(self, selector: str) -> tuple[str, ...]:
        """
        Give the names of the pods that are ready and not being deleted.

        Raises:
            HeadgateError: as `_translated` tells.
        """
        path = f"/api/v1/namespaces/{self._target.namespace}/pods"
        try:
            found = await self._call("GET", path, query=[("labelSelector", selector)])
        except _Answer as answer:
            raise self._translated(answer, "list on pods") from answer
        return tuple(sorted(pod["metadata"]["name"] for pod in found["items"] if _is_ready(pod)))

    async def close(self) -> None:
        """Let go of the connection."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _call(
        self, method: str, path: str, *, query: Sequence[tuple[str, str]] = (), body: Mapping[str, Any] | None = None
    ) -> Any:
        try:
            if self._client is None:
                self._client = await self._login.open()
            async with asyncio.timeout(self._login.time_limit.total_seconds()):
                status, text = await self._send(method, path, query=list(query), body=body)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            why = str(error) or f"no answer within {self._login.time_limit.total_seconds():g} s"
            message = f"{self._target}: Kubernetes cannot be reached: {why}"
            raise UnreachableError(message) from error
        if status >= HTTPStatus.BAD_REQUEST:
            if status == HTTPStatus.UNAUTHORIZED:
                await self.close()
            raise _Answer(status, _said(status, text))
        return json.loads(text)

    async def _send(
        self, method: str, path: str, *, query: list[tuple[str, str]], body: Mapping[str, Any] | None
    ) -> tuple[int, str]:
        headers = {"Accept": "application/json", "Content-Type": _MERGE}
        request = await self._client.param_serialize(
            method, path, query_params=query, header_params=headers, body=body, auth_settings=["BearerToken"]
        )
        answer = await self._client.call_api(*request)
        return answer.status, (await answer.read()).decode(errors="replace")

    def _translated(self, answer: _Answer, right: str) -> HeadgateError:
        """Give what an answer other than yes means for whoever asked."""
        said = f"{self._target}: {answer.said}"
        match answer.status:
            case HTTPStatus.UNAUTHORIZED:
                return RefusedError(f"{said}. Hint: the token or certificate does not hold, or not any more")
            case HTTPStatus.FORBIDDEN:
                return RefusedError(f"{said}. Hint: its role needs the verb {right}")
            case HTTPStatus.NOT_FOUND:
                return NotFoundError(f"{said}. Hint: there must be such a resource, with a scale subresource")
            case HTTPStatus.CONFLICT:
                return ConflictError(said)
            case status if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                return UnreachableError(said)
        return RefusedError(said)

    @property
    def _scale(self) -> str:
        return f"{self._target.plural}/scale of group {self._target.group}"


def _said(status: int, text: str) -> str:
    """Give the server's own words; some answers are no JSON."""
    try:
        return str(json.loads(text)["message"])
    except (TypeError, ValueError, KeyError):
        return f"status {status}: {text.strip()[:300]}"


def _is_ready(pod: Mapping[str, Any]) -> bool:
    conditions = pod.get("status", {}).get("conditions") or ()
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    return ready and "deletionTimestamp" not in pod["metadata"]
