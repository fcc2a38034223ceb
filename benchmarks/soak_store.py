"""
The soak's state store, and how it goes away.

A PostgreSQL stands behind a relay that refuses connections or lets nothing through: the one that the tests' variable
names, or a private one where its programs are. Elsewhere it is an SQLite file under a lock; that can be read all the
while and only not be written, so it shows less.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

from sqlalchemy import make_url
from tests.services.database_server import find_program, running, unprivileged_user
from tests.services.postgresql import URL_VARIABLE, PostgresqlServer

from benchmarks.relay import Relay

_PORT = 5432
_DEBIAN = Path("/usr/lib/postgresql")


class Door(Protocol):
    """
    The way to the store.

    Attributes:
        kind: what it is, in words.
        url: the option `state-store`.
    """

    kind: str
    url: str

    def refuse(self) -> None:
        """Let it be gone."""

    def hang(self) -> None:
        """Let it not answer."""

    async def restore(self) -> None:
        """Let it be there again."""


@asynccontextmanager
async def open_door(directory: Path) -> AsyncIterator[Door]:
    """Give the best store that this machine has; `directory` takes the SQLite file."""
    if url := os.environ.get(URL_VARIABLE):
        async with _relayed(url) as door:
            yield door
    elif _has_postgresql():
        with running(PostgresqlServer, user=unprivileged_user()) as server:
            async with _relayed(server.url) as door:
                yield door
    else:
        yield _LockedFile(directory / "state.db")


def _has_postgresql() -> bool:
    folders = list(_DEBIAN.glob("*/bin"))
    return all(find_program(name, *folders) for name in ("setpriv", "initdb", "postgres"))


@asynccontextmanager
async def _relayed(text: str) -> AsyncIterator[Door]:
    url = make_url(text)
    async with Relay(url.host or "127.0.0.1", url.port or _PORT) as relay:
        yield _RelayedServer(relay, url.set(host="127.0.0.1", port=relay.port).render_as_string(hide_password=False))


class _RelayedServer:
    """A PostgreSQL behind a relay."""

    def __init__(self, relay: Relay, url: str) -> None:
        self.kind = "PostgreSQL behind a relay"
        self.url = url
        self.refuse, self.hang, self.restore = relay.refuse, relay.hang, relay.restore


class _LockedFile:
    """An SQLite file that somebody else locks."""

    def __init__(self, path: Path) -> None:
        self.kind = "SQLite under a lock"
        self.url = f"sqlite:///{path}"
        self._path = path
        self._lock: sqlite3.Connection | None = None

    def refuse(self) -> None:
        self._lock = sqlite3.connect(self._path, isolation_level=None)
        self._lock.execute("BEGIN EXCLUSIVE")

    def hang(self) -> None:
        self.refuse()

    async def restore(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None
