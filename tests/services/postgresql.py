"""
A PostgreSQL server for tests: a private one, or the one that `HEADGATE_TEST_POSTGRESQL_URL` names.

A private one is made from the programs found on this machine; `make services` installs them.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.services.database_server import DatabaseServer, find_program, running, unprivileged_user

URL_VARIABLE = "HEADGATE_TEST_POSTGRESQL_URL"
_DEBIAN = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name), reverse=True)


class PostgresqlServer(DatabaseServer):
    """PostgreSQL over TCP, without a password and without care for the disk."""

    end = signal.SIGINT

    @property
    def url(self) -> str:
        """The database `postgres`, by a URL that leaves the driver to Headgate."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def initialize(self) -> None:
        """Make a cluster of databases."""
        initdb = find_program("initdb", *_DEBIAN)
        self.run([str(initdb), "-D", str(self._files), "-U", "postgres", "--auth=trust", "--no-sync", "-E", "UTF8"])

    def command(self) -> Sequence[str]:
        """Listen on the loopback only, and on no socket file."""
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": "",
            "fsync": "off",
        }
        program = find_program("postgres", *_DEBIAN)
        return [str(program), "-D", str(self._files), *(f"--{key}={value}" for key, value in settings.items())]

    @property
    def _files(self) -> Path:
        return self.directory / "files"


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[DatabaseServer]:
    """A server of these tests' own, which they may kill and start again."""
    if not all(find_program(name, *_DEBIAN) for name in ("setpriv", "initdb", "postgres")):
        pytest.skip("no PostgreSQL on this machine. Hint: run `make services`")
    with running(PostgresqlServer, user=unprivileged_user()) as server:
        yield server


@pytest.fixture(scope="session")
def postgresql_url(request: pytest.FixtureRequest) -> str:
    """The URL of a PostgreSQL database that tests may fill."""
    return os.environ.get(URL_VARIABLE) or str(request.getfixturevalue("postgresql_server").url)
