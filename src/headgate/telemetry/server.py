"""
Serves metrics and health over HTTP, from threads of its own: nobody who asks waits for a cycle, nor a cycle for them.

The metrics name clusters, jobs and vertices, so they are for those who show the token. A probe cannot show one: health
is told to everybody, and its reasons, which may name hosts, only with the token. A pod whose probes fail is killed, so
they are answered however many connections others keep busy.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any

from prometheus_client import CollectorRegistry, ProcessCollector

from headgate.options.serving import Address
from headgate.serving import Handler, listening
from headgate.telemetry.board import Board
from headgate.telemetry.collector import FleetCollector
from headgate.telemetry.exposition import TEXT_FORMAT, compressed, exposed
from headgate.telemetry.health import Check

METRICS, ALIVE, READY = "/metrics", "/healthz", "/readyz"


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What is shown, and to whom."""

    board: Board
    registry: CollectorRegistry
    token: str | None

    @classmethod
    def over(cls, board: Board, *, token: str | None = None, per_vertex: bool = True) -> Site:
        """Show a board, to everybody where there is no token."""
        registry = CollectorRegistry()
        registry.register(FleetCollector(board, per_vertex=per_vertex))
        ProcessCollector(registry=registry)
        return cls(board=board, registry=registry, token=token)


def served(site: Site, address: Address) -> AbstractContextManager[int]:
    """
    Serve a site, and give the port: that of the address, or a free one where it is 0.

    Raises:
        ConfigError: when it is entered: the address is in use, is not one of this machine, or needs rights that the
            process lacks.
    """
    hint = "choose another port, or set metrics.enabled: false"
    return listening(address, partial(_Handler, site), option="metrics.address", hint=hint, displaces=True)


class _Handler(Handler):
    def __init__(self, site: Site, *connection: Any) -> None:
        self._site = site
        super().__init__(*connection)

    def do_GET(self) -> None:  # noqa: N802 - so the library calls it
        """Show what is asked for."""
        health = self._site.board.health
        path = self.path.partition("?")[0]
        if path == METRICS:
            self._show_metrics()
        elif path == ALIVE:
            self._tell(health.alive())
        elif path == READY:
            self._tell(health.ready())
        else:
            self.answer(HTTPStatus.NOT_FOUND, f"there are {METRICS}, {ALIVE} and {READY}")

    def do_POST(self) -> None:  # noqa: N802 - so the library calls it
        """Refuse: there is nothing to be done here but to read."""
        self.answer(HTTPStatus.METHOD_NOT_ALLOWED, Allow="GET")

    def _show_metrics(self) -> None:
        if not self.shows(self._site.token):
            why = "the token is missing or not the right one"
            self.answer(HTTPStatus.UNAUTHORIZED, why, WWW_Authenticate="Bearer")
            return
        blocks, headers = exposed(self._site.registry.collect()), {"Vary": "Accept-Encoding"}
        if "gzip" in self.headers.get("Accept-Encoding", ""):
            blocks, headers = compressed(blocks), {**headers, "Content-Encoding": "gzip"}
        self.begin(HTTPStatus.OK, TEXT_FORMAT, **headers)
        for block in blocks:
            self.wfile.write(block)

    def _tell(self, checks: Sequence[Check]) -> None:
        ok = all(check.ok for check in checks)
        status = HTTPStatus.OK if ok else HTTPStatus.SERVICE_UNAVAILABLE
        lines = [json.dumps(_told(check, whole=self.shows(self._site.token))) for check in checks]
        # A line a check, for people.
        body = ",\n".join(f"  {line}" for line in lines)
        text = f'{{"status": "{"ok" if ok else "failing"}", "checks": [\n{body}\n]}}'
        self.answer(status, text, kind="application/json", Cache_Control="no-store")


def _told(check: Check, *, whole: bool) -> Mapping[str, object]:
    since = check.since.isoformat(timespec="seconds") if check.since else None
    told = {"name": check.name, "ok": check.ok, "since": since}
    return {**told, "why": check.why} if whole and not check.ok else told
