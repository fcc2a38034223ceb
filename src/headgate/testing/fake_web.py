"""An HTTP server on the loopback interface that answers what a test tells it to, late or wrongly if need be."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web


@dataclass(frozen=True, slots=True, kw_only=True)
class WebAnswer:
    """What is answered, once `after_s` seconds have passed."""

    text: str = "{}"
    status: int = 200
    after_s: float = 0.0
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebRequest:
    """What was asked."""

    method: str
    path: str
    """With its query, as it was sent."""
    headers: Mapping[str, str]
    form: Mapping[str, str]


class FakeWeb:
    """
    The server; use it as an async context manager.

    Attributes:
        answer: what every path is answered that is not in `answers`.
        answers: by path with its query.
        answering: answers instead, by what is asked.
        requests: everything that was asked, in order.
        asked: set once anything was.
    """

    def __init__(self, answer: WebAnswer | None = None) -> None:
        """Begin to serve with the context."""
        self.answer = answer or WebAnswer()
        self.answers: dict[str, WebAnswer] = {}
        self.answering: Callable[[WebRequest], WebAnswer] | None = None
        self.requests: list[WebRequest] = []
        self.asked = asyncio.Event()
        self.url = ""
        self._stopping = asyncio.Event()
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        """Serve on a free port."""
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._respond)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop, and let hanging requests go."""
        self._stopping.set()
        if self._runner is not None:
            await self._runner.cleanup()

    async def _respond(self, request: web.Request) -> web.Response:
        form: Mapping[str, Any] = await request.post()
        asked = WebRequest(
            method=request.method,
            path=request.raw_path,
            headers=dict(request.headers),
            form={key: str(value) for key, value in form.items()},
        )
        self.requests.append(asked)
        self.asked.set()
        answer = self.answering(asked) if self.answering else self.answers.get(request.raw_path, self.answer)
        if answer.after_s:
            try:
                async with asyncio.timeout(answer.after_s):
                    await self._stopping.wait()
            except TimeoutError:
                pass
        return web.Response(
            text=answer.text, status=answer.status, content_type="application/json", headers=answer.headers
        )
