"""What Headgate's HTTP servers have in common: where they listen, whom they let in, and how long anybody may stay."""

from __future__ import annotations

import hmac
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from threading import Lock, Thread, Timer
from typing import Any

from headgate.errors import ConfigError
from headgate.options.serving import Address

_PATIENCE_S = 10.0
"""How long a client may take over its next bytes."""
_MOST_S = 60.0
"""How long a whole request may last, however slowly but steadily it goes."""
_CONNECTIONS = 32
"""That are served at once."""
_BUSY = b"HTTP/1.0 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_POLL_S = 0.05
"""How soon the server notices that it is to end."""


class Handler(BaseHTTPRequestHandler):
    """Answers one request, and says nothing on standard error."""

    timeout = _PATIENCE_S

    def log_message(self, *_: object) -> None:
        """Say nothing: standard error is not for requests."""

    def shows(self, token: str | None) -> bool:
        """Tell whether the request shows a token; None is shown by everybody."""
        shown = self.headers.get("Authorization", "").encode("latin-1", "replace")  # as the library has read it
        # In constant time: how long it takes tells nothing of how much of it was right.
        return token is None or hmac.compare_digest(shown, f"Bearer {token}".encode())

    def answer(self, status: HTTPStatus, text: str = "", *, kind: str = "text/plain", **headers: str) -> None:
        """Answer with a text, and hang up: what was not read of a request would be taken for the next one."""
        body = f"{text}\n".encode() if text else b""
        self.begin(status, kind, Content_Length=str(len(body)), **headers)
        self.wfile.write(body)

    def begin(self, status: HTTPStatus, kind: str, **headers: str) -> None:
        """Send all that comes before a body."""
        self.send_response_only(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        for name, value in {**headers, "Connection": "close"}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()


@contextmanager
def listening(
    address: Address, handler: Callable[..., Handler], *, option: str, hint: str, displaces: bool = False
) -> Iterator[int]:
    """
    Serve in threads of its own, and give the port: that of the address, or a free one where it is 0.

    Args:
        address: where to listen.
        handler: makes what answers a request, of the request, the client's address and the server.
        option: the option that names the address.
        hint: what else could be done where it cannot be had.
        displaces: when all connections are taken, whether a new one takes the place of the oldest, for answers that
            must not be kept from whoever asks; otherwise it is asked to come again.

    Raises:
        ConfigError: the address is in use, is not one of this machine, or needs rights that the process lacks.
    """
    try:
        server = _Server(address, handler, displaces=displaces)
    except OSError as error:
        fault = f"{option}: cannot listen on {address}: {(error.strerror or str(error)).lower()}"
        raise ConfigError([f"{fault}. Hint: {hint}"]) from error
    thread = Thread(target=server.serve_forever, args=(_POLL_S,), name=f"headgate-{option}", daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingTCPServer):
    """
    A thread a request, of which one that hangs keeps nobody from ending.

    Not the library's server for HTTP, which asks the resolver what the machine is called, however long that takes.
    """

    allow_reuse_address = True
    request_queue_size = _CONNECTIONS
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: Address, handler: Callable[..., Handler], *, displaces: bool) -> None:
        self.address_family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        self._displaces = displaces
        self._open: dict[socket.socket, None] = {}
        """In the order in which they came."""
        self._lock = Lock()
        super().__init__((address.host, address.port), handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve in a thread, unless there are too many."""
        if self._admits(request):
            super().process_request(request, client_address)
            return
        with suppress(OSError):
            request.sendall(_BUSY)
        self.shutdown_request(request)

    def _admits(self, request: socket.socket) -> bool:
        with self._lock:
            if len(self._open) >= _CONNECTIONS:
                if not self._displaces:
                    return False
                oldest = next(iter(self._open))
                del self._open[oldest]
                _hang_up(oldest)
            self._open[request] = None
            return True

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve, and hang up on who takes too long: its next read finds the end."""
        hanging_up = Timer(_MOST_S, _hang_up, [request])
        hanging_up.daemon = True
        try:
            hanging_up.start()
            super().process_request_thread(request, client_address)
        finally:
            hanging_up.cancel()
            with self._lock:
                self._open.pop(request, None)

    def handle_error(self, *_: object) -> None:
        """Say nothing: who hung up in the middle will come again."""


def _hang_up(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
