"""Serves the metrics over HTTP, from threads of its own: a scrape never waits for a cycle, nor a cycle for a scrape."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from socketserver import ThreadingMixIn
from threading import Thread
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import CollectorRegistry, ProcessCollector

from headgate.errors import ConfigError
from headgate.options.service import Address
from headgate.telemetry.board import Board
from headgate.telemetry.collector import FleetCollector
from headgate.telemetry.exposition import CONTENT_TYPE, compressed, exposed

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

PATH = "/metrics"
_POLL_S = 0.05
"""How soon the server notices that it is to end."""


class _Server(ThreadingMixIn, WSGIServer):
    """A thread a scrape; one that hangs keeps nobody from ending."""

    daemon_threads = True

    def __init__(self, address: Address) -> None:
        self.address_family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        super().__init__((address.host, address.port), _SilentHandler)


class _SilentHandler(WSGIRequestHandler):
    """Says nothing: standard error is not for scrapes."""

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served(board: Board, address: Address) -> Iterator[int]:
    """
    Serve the board, and give the port: that of the address, or a free one where it is 0.

    Raises:
        ConfigError: the address is in use, is not one of this machine, or needs rights that the process lacks.
    """
    try:
        server = _Server(address)
    except OSError as error:
        fault = f"metrics.address: cannot listen on {address}: {(error.strerror or str(error)).lower()}"
        hint = "Hint: choose another port, or leave it unset to show no metrics"
        raise ConfigError([f"{fault}. {hint}"]) from error
    server.set_app(_application(board))
    thread = Thread(target=server.serve_forever, args=(_POLL_S,), name="headgate-metrics", daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _application(board: Board) -> WSGIApplication:
    registry = CollectorRegistry()
    registry.register(FleetCollector(board))
    ProcessCollector(registry=registry)

    def answer(request: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        if request["PATH_INFO"] != PATH:
            start("404 Not Found", [("Content-Type", "text/plain")])
            return [f"the metrics are at {PATH}\n".encode()]
        if request["REQUEST_METHOD"] != "GET":
            start("405 Method Not Allowed", [("Allow", "GET")])
            return []
        blocks = exposed(registry.collect())
        headers = [("Content-Type", CONTENT_TYPE), ("Vary", "Accept-Encoding")]
        if "gzip" not in request.get("HTTP_ACCEPT_ENCODING", ""):
            start("200 OK", headers)
            return blocks
        start("200 OK", [*headers, ("Content-Encoding", "gzip")])
        return compressed(blocks)

    return answer
