"""Whole messages over a socket, each with a deadline: half a message never holds anybody up."""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from struct import Struct

_HEAD = Struct(">Q")
LARGEST = 256 * 2**20
"""Bytes of a message: the window of one job takes few of them."""


class Channel:
    """One end of a pair of sockets; what goes wrong is an `OSError`, a deadline that passes a `TimeoutError`."""

    def __init__(self, end: socket.socket) -> None:
        """Own the socket."""
        self._end = end

    def send(self, message: bytes, *, seconds: float | None = None) -> None:
        """Send a message."""
        self._end.settimeout(seconds)
        self._end.sendall(_HEAD.pack(len(message)) + message)

    def receive(self, *, seconds: float | None = None) -> bytes:
        """
        Wait for a message.

        Raises:
            ConnectionError: the other end is closed, or what it sends is no message.
        """
        until = None if seconds is None else time.monotonic() + seconds
        (length,) = _HEAD.unpack(self._exactly(_HEAD.size, until))
        if length > LARGEST:
            message = f"a message of {length} bytes is none"
            raise ConnectionError(message)
        return self._exactly(length, until)

    def interrupt(self) -> None:
        """Let whoever sends or receives find the channel closed at once; from any thread, as `close` must not be."""
        with suppress(OSError):
            self._end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close this end; the other one then finds nobody."""
        self._end.close()

    def _exactly(self, count: int, until: float | None) -> bytes:
        parts, missing = list[bytes](), count
        while missing:
            self._end.settimeout(None if until is None else max(until - time.monotonic(), 1e-3))
            part = self._end.recv(min(missing, 2**20))
            if not part:
                message = "the other end is closed"
                raise ConnectionError(message)
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)
