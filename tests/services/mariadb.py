"""
A MariaDB server for tests: a private one, or the MySQL or MariaDB that `HEADGATE_TEST_MYSQL_URL` names.

A private one is made from the programs found on this machine; `make services` installs them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.services.database_server import DatabaseServer, find_program, running

URL_VARIABLE = "HEADGATE_TEST_MYSQL_URL"


class MariadbServer(DatabaseServer):
    """MariaDB over TCP, without a password."""

    @property
    def url(self) -> str:
        """The database `test`, by a URL that leaves the driver to Headgate."""
        return f"mysql://headgate@127.0.0.1:{self.port}/test"

    def initialize(self) -> None:
        """Make the data directory, with a user who may do everything in the test's database."""
        install = find_program("mariadb-install-db")
        self.run([str(install), "--no-defaults", *self._options, "--auth-root-authentication-method=normal"])
        (self.directory / "init.sql").write_text(
            "CREATE DATABASE IF NOT EXISTS test; CREATE USER IF NOT EXISTS headgate@'127.0.0.1';"
            "GRANT ALL ON *.* TO headgate@'127.0.0.1';"
        )

    def command(self) -> Sequence[str]:
        """Listen on the loopback only; its socket file is in its own directory."""
        settings = {
            "bind-address": "127.0.0.1",
            "port": str(self.port),
            "socket": str(self.directory / "socket"),
            "init-file": str(self.directory / "init.sql"),
            "innodb-flush-log-at-trx-commit": "2",  # outlives a killed server, though not a power failure
            "innodb-buffer-pool-size": "32M",
        }
        options = (f"--{key}={value}" for key, value in settings.items())
        return [str(find_program("mariadbd")), "--no-defaults", *self._options, *options]

    @property
    def _options(self) -> Sequence[str]:
        user = ["--user=root"] if os.geteuid() == 0 else []
        return [f"--datadir={self._files}", *user]

    @property
    def _files(self) -> Path:
        return self.directory / "files"


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[DatabaseServer]:
    """A server of these tests' own, which they may kill and start again."""
    if not all(find_program(name) for name in ("setpriv", "mariadb-install-db", "mariadbd")):
        pytest.skip("no MariaDB on this machine. Hint: run `make services`")
    with running(MariadbServer) as server:
        yield server


@pytest.fixture(scope="session")
def mysql_url(request: pytest.FixtureRequest) -> str:
    """The URL of a MySQL or MariaDB database that tests may fill."""
    return os.environ.get(URL_VARIABLE) or str(request.getfixturevalue("mariadb_server").url)
