"""A receiver of webhooks on the loopback interface that keeps what it was sent, and fails on demand."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """One request that came in."""

    path: str
    headers: Mapping[str, str]
    """By name in small letters."""
    body: bytes

    @property
    def json(self) -> Any:
        """The body, decoded."""
        return json.loads(self.body)


class FakeReceiver:
    """
    The server; use it as a context manager. Its port stays its own while it does not listen.

    Attributes:
        posted: everything that came in, in order, also what was refused.
        status: of the next answers.
        hangs: whether requests wait until the server ends, or hangs no more.
        was_asked: set once anything came in.
        connections: how many were made; they are kept between requests.
    """

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        """Listen on a free port once the context begins; with `tls` only to whoever trusts its certificate."""
        self.posted: list[Posted] = []
        self.status = 204
        self.was_asked = Event()
        self.connections = 0
        self._taken: list[Posted] = []
        self._tls = tls
        self._open: list[socket.socket] = []
        self._let_go = Event()
        self._let_go.set()
        self._server = self._serve(0)
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self._server.server_port}/hook"

    @property
    def taken(self) -> list[Posted]:
        """What came in and was answered with a 2xx."""
        return list(self._taken)

    def hang(self) -> None:
        """Answer no more."""
        self._let_go.clear()

    def recover(self) -> None:
        """Answer with 204, the requests that hang included."""
        self.status = 204
        self._let_go.set()

    def go_away(self) -> None:
        """Refuse connections, and end those there are."""
        self._server.shutdown()
        self._server.server_close()
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def come_back(self) -> None:
        """Listen again, on the same port."""
        self._server = self._serve(self._server.server_port)

    def __enter__(self) -> Self:
        """Serve already."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let all requests go, and listen no more."""
        self._let_go.set()
        self.go_away()

    def answer(self, posted: Posted) -> int:
        """Keep a request and give the status to answer with; waits while the receiver hangs."""
        self.posted.append(posted)
        self.was_asked.set()
        self._let_go.wait()
        if self.status < 300:  # noqa: PLR2004 -- HTTP's own
            self._taken.append(posted)
        return self.status

    def _serve(self, port: int) -> ThreadingHTTPServer:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            """Takes POSTs over one connection."""

            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                """Count the connection."""
                receiver.connections += 1
                receiver._open.append(self.request)
                super().setup()

            def do_POST(self) -> None:
                """Keep it and answer."""
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                status = receiver.answer(Posted(path=self.path, headers=headers, body=body))
                with suppress(OSError):  # the sender has not waited
                    self.send_response(status)
                    self.send_header("Content-Length", "0")
                    self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the library's name
                """Say nothing."""

        server = _Server(("127.0.0.1", port), Handler)
        if self._tls is not None:
            server.socket = self._tls.wrap_socket(server.socket, server_side=True)
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return server


class _Server(ThreadingHTTPServer):
    """Waits for no request at its end."""

    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_: object) -> None:
        """Say nothing of who hung up or did not trust us."""
