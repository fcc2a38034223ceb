"""A private database server on the loopback that tests start, kill and start again; nothing of it is left."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

from sqlalchemy import create_engine, text
from sqlalchemy.exc import SQLAlchemyError

from headgate.stores.connecting import url_of

_PATIENCE_S = 60.0


class DatabaseServer(ABC):
    """One server with one directory and one port for as long as the tests run."""

    end = signal.SIGTERM
    """What asks the server to end without waiting for its clients."""

    def __init__(self, directory: Path, *, user: str | None) -> None:
        """Start nothing yet; `user` is who the server runs as, if not this process's user."""
        self.directory, self.user = directory, user
        self.port = _free_port()
        self._running: subprocess.Popen[bytes] | None = None

    @property
    @abstractmethod
    def url(self) -> str:
        """The database, as a user of Headgate would write it."""

    @abstractmethod
    def initialize(self) -> None:
        """Make the data directory."""

    @abstractmethod
    def command(self) -> Sequence[str]:
        """Give what starts the server."""

    def start(self) -> None:
        """Start it and wait until it answers."""
        log = (self.directory / "server.log").open("ab")
        with log:
            self._running = subprocess.Popen(self._as_user(self.command()), stdout=log, stderr=log, cwd=self.directory)
        self._wait()

    def kill(self) -> None:
        """End it at once, as a power failure would."""
        if self._running:
            self._running.kill()
            self._running.wait()
            self._running = None

    def stop(self) -> None:
        """End it in order: PostgreSQL, killed, leaves a piece of shared memory behind."""
        if self._running:
            self._running.send_signal(self.end)
            self._running.wait(_PATIENCE_S)
            self._running = None

    def run(self, command: Sequence[str]) -> None:
        """Run a program of the server's to its end, as the server's user."""
        done = subprocess.run(self._as_user(command), capture_output=True, cwd=self.directory, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def execute(self, *statements: str) -> None:
        """Run statements outside of any transaction, on the server's own database."""
        engine = create_engine(url_of(self.url), isolation_level="AUTOCOMMIT")
        try:
            with engine.connect() as connection:
                for statement in statements:
                    connection.execute(text(statement))
        finally:
            engine.dispose()

    def _as_user(self, command: Sequence[str]) -> Sequence[str]:
        # A test run that is killed cannot clean up: then the server ends with it.
        become = (
            [f"--reuid={self.user}", f"--regid={pwd.getpwnam(self.user).pw_gid}", "--clear-groups"] if self.user else []
        )
        return ["setpriv", *become, "--pdeathsig", "KILL", *command]

    def _wait(self) -> None:
        until = time.monotonic() + _PATIENCE_S
        while True:
            assert self._running is not None
            assert self._running.poll() is None, (self.directory / "server.log").read_text(errors="replace")[-3000:]
            try:
                return self.execute("SELECT 1")
            except SQLAlchemyError:
                assert time.monotonic() < until, f"no answer from {self.url} within {_PATIENCE_S} s"
                time.sleep(0.1)


@contextmanager
def running(kind: type[DatabaseServer], *, user: str | None = None) -> Iterator[DatabaseServer]:
    """Start a server in a new directory, and leave nothing of it."""
    # Not pytest's own directory: another user's server could not enter it.
    directory = Path(mkdtemp(prefix="headgate-"))
    server = kind(directory, user=user)
    try:
        if user:
            shutil.chown(directory, user)
        server.initialize()
        server.start()
        yield server
    finally:
        server.stop()
        with suppress(FileNotFoundError):
            shutil.rmtree(directory)


def find_program(name: str, *folders: Path) -> Path | None:
    """Find a program on the path, in the folders, or where Debian hides servers from its users."""
    path = os.pathsep.join([os.environ.get("PATH", ""), *map(str, folders), "/usr/sbin", "/usr/local/sbin"])
    found = shutil.which(name, path=path)
    return Path(found) if found else None


def unprivileged_user() -> str | None:
    """Name a user for servers that refuse to be root's; None when this process is not root's either."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(user for user in ("postgres", "nobody") if user in known)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
