"""The calls to a Flink cluster that measuring a rescale needs: blocking, some ten a second."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.error import HTTPError

from headgate.engines.flink.local.loopback import call_json
from headgate.errors import HeadgateError, NotFoundError, PermanentError, RefusedError, TransientError, UnreachableError

T = TypeVar("T")

LIMIT = timedelta(minutes=2)
"""For anything that is waited for: what takes longer has gone wrong."""

_POLL_S = 0.07


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """A cluster's REST interface."""

    url: str
    """Without a slash at the end."""

    def get(self, path: str) -> Any:
        """
        Ask.

        Raises:
            UnreachableError: no answer, or an error of Flink's own.
            NotFoundError: there is no such thing, or not yet.
            RefusedError: what was asked for is wrong.
        """
        return self._call("GET", path)

    def send(self, method: str, path: str, body: object = None) -> Any:
        """
        Send a body and return the answer.

        Raises:
            UnreachableError: no answer, or an error of Flink's own.
            RefusedError: Flink will not.
        """
        return self._call(method, path, json.dumps(body).encode())

    def _call(self, method: str, path: str, body: bytes | None = None) -> Any:
        try:
            return call_json(
                f"{self.url}{path}", method=method, body=body, headers={"Content-Type": "application/json"}
            )
        except HTTPError as error:
            message = f"{method} {self.url}{path} was answered {error.code}: {error.read().decode(errors='replace')}"
            raise _kind_of(error.code)(message) from error
        except OSError as error:
            message = f"{method} {self.url}{path}: no answer: {error}"
            raise UnreachableError(message) from error


def _kind_of(status: int) -> type[HeadgateError]:
    if status == HTTPStatus.NOT_FOUND:
        return NotFoundError
    return RefusedError if status < HTTPStatus.INTERNAL_SERVER_ERROR else UnreachableError


def await_value(ask: Callable[[], T | None], what: str, *, limit: timedelta = LIMIT) -> T:
    """
    Ask until there is an answer, and return it. Flink fails to answer, or knows nothing, where a job just changes.

    Args:
        ask: returns None for as long as there is none.
        what: is waited for, in words.
        limit: how long it may take.

    Raises:
        TransientError: it took longer.
        RefusedError: asking is wrong.
    """
    deadline = time.monotonic() + limit.total_seconds()
    while time.monotonic() < deadline:
        found = _asked(ask)
        if found is not None:
            return found
        time.sleep(_POLL_S)
    message = f"{what}: not within {limit}"
    raise TransientError(message)


def _asked(ask: Callable[[], T | None]) -> T | None:
    try:
        return ask()
    except (UnreachableError, NotFoundError):
        return None


@contextmanager
def reading() -> Iterator[None]:
    """
    Read answers that may be of another Flink than those that are known.

    Raises:
        PermanentError: something is missing in one, or is not of the kind that it should be.
    """
    try:
        yield
    except (LookupError, TypeError, ValueError) as error:
        message = f"an answer of the cluster is not understood: {error!r}"
        raise PermanentError(message) from error


def vertex_ids(job: Mapping[str, Any]) -> dict[str, str]:
    """Return the ids of a job's vertices by name, from `/jobs/:id`."""
    return {vertex["name"]: vertex["id"] for vertex in job["vertices"]}


def runs_at(job: Mapping[str, Any], parallelism: int) -> bool:
    """Tell whether every subtask of a job runs at this parallelism, from `/jobs/:id`: a vertex says so with one."""
    seen = {(vertex["tasks"]["RUNNING"], vertex["parallelism"]) for vertex in job["vertices"]}
    return seen == {(parallelism, parallelism)}
