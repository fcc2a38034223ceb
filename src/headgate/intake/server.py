"""Takes reports in over HTTP, in threads of its own: an agent never waits for a cycle, nor a cycle for an agent."""

from __future__ import annotations

import hmac
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore, Thread, Timer
from typing import Any

from headgate.errors import ConfigError, HeadgateError, RefusedError
from headgate.intake.reading import Report, read_report
from headgate.options.service import Address

PATH = "/v1/reports"
LARGEST_BODY = 8 * 2**20
"""Bytes of a report; more is refused unread."""
_PATIENCE_S = 10.0
"""How long a sender may take over its report."""
_MOST_S = 30.0
"""How long a whole request may last, however slowly but steadily it comes."""
_CONNECTIONS = 32
"""That are served at once; who comes then is asked to come again."""
_BUSY = b"HTTP/1.0 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_POLL_S = 0.05
"""How soon the server notices that it is to end."""

Keep = Callable[[Report], None]


@contextmanager
def taking_reports(keep: Keep, address: Address, token: str | None) -> Iterator[int]:
    """
    Take reports in, and give the port: that of the address, or a free one where it is 0.

    Args:
        keep: keeps a report; several threads call it.
        address: where to listen.
        token: what senders must show; None lets everybody in who can reach the address.

    Raises:
        ConfigError: the address is in use, is not one of this machine, or needs rights that the process lacks.
    """
    try:
        server = _Server(address, keep, token)
    except OSError as error:
        fault = f"agents.address: cannot listen on {address}: {(error.strerror or str(error)).lower()}"
        hint = "Hint: choose another port, or leave it unset to take no reports"
        raise ConfigError([f"{fault}. {hint}"]) from error
    thread = Thread(target=server.serve_forever, args=(_POLL_S,), name="headgate-intake", daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: Address, keep: Keep, token: str | None) -> None:
        self.address_family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        self.keep = keep
        self.token = token
        self._places = BoundedSemaphore(_CONNECTIONS)
        super().__init__((address.host, address.port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve in a thread, unless there are too many."""
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
            return
        with suppress(OSError):
            request.sendall(_BUSY)
        self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve, and hang up on who takes too long: its next read finds the end."""
        hanging_up = Timer(_MOST_S, _hang_up, [request])
        hanging_up.daemon = True
        hanging_up.start()
        try:
            super().process_request_thread(request, client_address)
        finally:
            hanging_up.cancel()
            self._places.release()

    def handle_error(self, *_: object) -> None:
        """Say nothing: who hung up in the middle will come again."""


def _hang_up(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = _PATIENCE_S

    def do_POST(self) -> None:
        """Take one report."""
        refusal = self._refusal()
        if refusal is not None:
            self._answer(*refusal)
            return
        body = self.rfile.read(self._length or 0)
        try:
            self.server.keep(read_report(body))
        except RefusedError as error:
            self._answer(HTTPStatus.BAD_REQUEST, str(error))
        except HeadgateError as error:
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, str(error))
        except Exception as error:  # noqa: BLE001 - whatever a report makes happen, its sender is told
            self._answer(HTTPStatus.INTERNAL_SERVER_ERROR, f"the report cannot be kept: {type(error).__name__}")
        else:
            self._answer(HTTPStatus.NO_CONTENT)

    def log_message(self, *_: object) -> None:
        """Say nothing: standard error is not for requests."""

    def _refusal(self) -> tuple[HTTPStatus, str] | None:
        if self.path != PATH:
            return HTTPStatus.NOT_FOUND, f"reports are taken at {PATH}"
        if not self._may_enter():
            return HTTPStatus.UNAUTHORIZED, "the token is missing or not the right one"
        if self._length is None:
            return HTTPStatus.LENGTH_REQUIRED, "the report's length is not told"
        if self._length > LARGEST_BODY:
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a report has {LARGEST_BODY} bytes at most"
        return None

    def _may_enter(self) -> bool:
        wanted = self.server.token
        shown = self.headers.get("Authorization", "")
        return wanted is None or hmac.compare_digest(shown.encode(), f"Bearer {wanted}".encode())

    @property
    def _length(self) -> int | None:
        told = self.headers.get("Content-Length", "")
        return int(told) if told.isascii() and told.isdecimal() else None

    def _answer(self, status: HTTPStatus, text: str = "") -> None:
        body = f"{text}\n".encode() if text else b""
        self.send_response_only(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        # what was not read of a refused report would be taken for the next request
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
