"""A private object store on the loopback that speaks S3, from the program that `make services` builds."""

from __future__ import annotations

import os
import shutil
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from headgate.engines.flink.local.cache import cache_root
from headgate.engines.flink.local.loopback import HOST, free_ports
from headgate.engines.flink.local.processes import Child, Children
from headgate.options.service import LogOptions

BUCKET = "fleet"
KEY, SECRET = "headgate", "headgate-secret"
_PATIENCE_S = 30.0


@dataclass
class ObjectStore:
    """A running one, with an empty bucket."""

    port: int
    children: Children
    command: Sequence[str]
    output: Path
    child: Child = field(init=False)

    @property
    def endpoint(self) -> str:
        """Its URL."""
        return f"http://{HOST}:{self.port}"

    @property
    def credentials(self) -> Mapping[str, str]:
        """The environment variables in which everybody looks for them."""
        return {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "us-east-1"}

    @property
    def spark_settings(self) -> Mapping[str, str]:
        """What a Spark session needs to read from it, besides the options of the log."""
        return {"spark.hadoop.fs.s3a.access.key": KEY, "spark.hadoop.fs.s3a.secret.key": SECRET}

    def log(self, name: str) -> LogOptions:
        """Give the options of a log in it."""
        return LogOptions(path=f"s3a://{BUCKET}/{name}", endpoint=self.endpoint)

    def start(self) -> None:
        """Start it, with what it holds already, and wait until it answers."""
        self.child = self.children.start("object store", self.command, environment=os.environ, output=self.output)
        until = time.monotonic() + _PATIENCE_S
        while not _listens(self.port):
            assert self.child.running, self.output.read_text(errors="replace")[-3000:]
            assert time.monotonic() < until, "the object store does not answer"
            time.sleep(0.05)

    def stop(self) -> None:
        """End it, as an outage would."""
        self.child.process.kill()
        self.child.process.wait(_PATIENCE_S)


@contextmanager
def running() -> Iterator[ObjectStore]:
    """Run one as long as needed, and let this process have access; skips where there is none."""
    program = _program()
    if program is None:
        pytest.skip("there is no versitygw here: make services")
    with TemporaryDirectory(prefix="headgate-store-") as folder, pytest.MonkeyPatch.context() as patch:
        directory, (port,) = Path(folder), free_ports(1)
        (directory / "objects" / BUCKET).mkdir(parents=True)
        (directory / "told").mkdir()
        account = ["--access", KEY, "--secret", SECRET, "--region", "us-east-1"]
        # Not every file system has attributes for what is told of an object.
        backend = ["posix", "--sidecar", str(directory / "told"), str(directory / "objects")]
        command = [program, *account, "--port", f"{HOST}:{port}", "--quiet", *backend]
        children = Children()
        store = ObjectStore(port=port, children=children, command=command, output=directory / "store.log")
        for name, value in store.credentials.items():
            patch.setenv(name, value)
        try:
            store.start()
            yield store
        finally:
            children.close()


def _program() -> str | None:
    built = sorted(cache_root().glob("versitygw-*/versitygw"))
    return shutil.which("versitygw") or (str(built[-1]) if built else None)


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex((HOST, port)) == 0
