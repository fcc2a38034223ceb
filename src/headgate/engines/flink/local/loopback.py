"""The few things that preparing and watching servers on this machine need; not a REST client."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

HOST = "127.0.0.1"

_ANSWER_LIMIT_S = 30
# Without the proxies of the environment, which must not see what stays on this machine.
_opener = build_opener(ProxyHandler({}))


def free_ports(count: int) -> tuple[int, ...]:
    """Return ports of the loopback interface, all different, that nobody listened on just now."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind((HOST, 0))
        return tuple(each.getsockname()[1] for each in sockets)


def call_json(
    url: str, *, method: str = "GET", body: bytes | None = None, headers: Mapping[str, str] | None = None
) -> Any:
    """
    Make one HTTP request and return the JSON that it answers, `None` if it answers nothing.

    Raises:
        OSError: nobody answers within 30 s (`URLError`), or with a status of 400 and more (`HTTPError`).
    """
    request = Request(url, data=body, headers=dict(headers or {}), method=method)  # noqa: S310 (our own URL)
    with _opener.open(request, timeout=_ANSWER_LIMIT_S) as answer:
        content = answer.read()
    return json.loads(content) if content else None
