"""A private Prometheus on the loopback, and what it scrapes: a page of metrics that a test writes."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import URLError
from urllib.parse import quote

import pytest

from headgate.engines.flink.local.loopback import HOST, call_json, free_ports
from headgate.engines.flink.local.processes import Children

USER, PASSWORD = "admin", "test"
_HASH = "$2b$12$hNf2lSsxfm0.i4a.1kVpSOVyBCfIB51VRjgBUyv6kdnyTlgWj81Ay"
"""Of the password, by bcrypt; it stands so in Prometheus' documentation."""
_PATIENCE_S = 60.0


@dataclass
class Exposition:
    """A page of metrics in Prometheus' text format; change `text` at any time."""

    text: str = ""
    url: str = ""

    @contextmanager
    def served(self) -> Iterator[Exposition]:
        """Serve the page on a free port."""
        page = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.end_headers()
                self.wfile.write(page.text.encode())

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer((HOST, 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.url = f"{HOST}:{server.server_port}"
        try:
            yield self
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


@dataclass
class Prometheus:
    """A running one that scrapes one page every second."""

    url: str
    page: Exposition
    children: Children = field(default_factory=Children)

    def expose(self, text: str, query: str, expected: float | None) -> None:
        """Change the page, and wait until a query tells so; None waits until it gives nothing."""
        self.page.text = text
        until = time.monotonic() + _PATIENCE_S
        while self.value(query) != expected:
            assert time.monotonic() < until, f"{query} did not become {expected}"
            time.sleep(0.1)

    def stop(self) -> None:
        """End it, as an outage would."""
        self.children.close()

    def value(self, query: str) -> float | None:
        """Give the first result of a query, as Prometheus itself tells it."""
        answer = call_json(f"{self.url}/api/v1/query?query={quote(query)}")
        found = answer["data"]["result"]
        return float(found[0]["value"][1]) if found else None


@contextmanager
def running(*, with_login: bool = False, targets: Path | None = None) -> Iterator[Prometheus]:
    """
    Run one as long as needed; skips where there is none, as `make services` would install it.

    Args:
        with_login: whether it asks for name and password.
        targets: a directory whose `*.json` files name what is scraped besides the page.
    """
    program = shutil.which("prometheus")
    if program is None:
        pytest.skip("there is no prometheus here: make services")
    with TemporaryDirectory(prefix="headgate-prometheus-") as folder, Exposition().served() as page:
        children = Children()
        directory, (port,) = Path(folder), free_ports(1)
        command = _command(program, directory, port, _scraped(page, targets))
        if with_login:
            web = directory / "web.yml"
            web.write_text(json.dumps({"basic_auth_users": {USER: _HASH}}))
            command.append(f"--web.config.file={web}")
        log = directory / "prometheus.log"
        try:
            children.start("prometheus", command, environment=os.environ, output=log)
            started = Prometheus(url=f"http://{HOST}:{port}", page=page, children=children)
            _wait(started.url, log)
            yield started
        finally:
            children.close()


def _scraped(page: Exposition, targets: Path | None) -> list[Mapping[str, object]]:
    own: list[Mapping[str, object]] = [{"job_name": "page", "static_configs": [{"targets": [page.url]}]}]
    if targets is not None:
        found = {"files": [f"{targets}/*.json"], "refresh_interval": "1s"}
        own.append({"job_name": "flink", "file_sd_configs": [found]})
    return own


def _command(program: str, directory: Path, port: int, scraped: list[Mapping[str, object]]) -> list[str]:
    config = {"global": {"scrape_interval": "1s", "scrape_timeout": "1s"}, "scrape_configs": scraped}
    file = directory / "prometheus.yml"
    file.write_text(json.dumps(config))
    return [
        program,
        f"--config.file={file}",
        f"--storage.tsdb.path={directory / 'data'}",
        f"--web.listen-address={HOST}:{port}",
    ]


def _wait(url: str, log: Path) -> None:
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until:
        try:
            call_json(f"{url}/api/v1/query?query=1")
        except URLError as error:
            if "401" in str(error):
                return
            time.sleep(0.1)
        else:
            return
    pytest.fail(f"prometheus did not start: {log.read_text(errors='replace')[-3000:]}")
