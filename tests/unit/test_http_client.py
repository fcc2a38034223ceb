"""Every HTTP client goes through the proxies of the environment, but never to this machine."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event as Flag
from threading import Thread

import pytest

from headgate.agent.reporting import Reporter
from headgate.config.secrets import Secret
from headgate.engines.flink.client import FlinkClient
from headgate.engines.spark.attached.room import fetch_json
from headgate.errors import HeadgateError
from headgate.events.webhook import Receiver, WebhookEventHandler
from headgate.http_client import proxy_of
from headgate.model.events import Event, EventReason, EventType
from headgate.options.service import ClusterOptions
from headgate.options.signals import SignalSourceOptions
from headgate.signals.web import Web
from headgate.testing.builders import ORDERS, at

HAPPENED = Event(
    at=at(0), type=EventType.NORMAL, reason=EventReason.SCALING, message="a 1 -> 2", key="d1", subject=ORDERS
)
FAR = "http://far.example:8081"


class FakeProxy:
    """A proxy that answers itself, with an empty document, and keeps what it was asked for."""

    def __init__(self) -> None:
        """Serve on a free port."""
        self.asked: list[str] = []
        self.was_asked = Flag()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            """Answers GET and POST."""

            def do_GET(self) -> None:
                """Keep the address."""
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                proxy.asked.append(self.path)
                self.send_response(200)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")
                proxy.was_asked.set()

            do_POST = do_GET  # noqa: N815 -- the library's name

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self) -> None:
        """Serve no more."""
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeProxy]:
    """Name a proxy in the environment."""
    for name in ("http_proxy", "https_proxy", "no_proxy", "HTTPS_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with closing(FakeProxy()) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        yield proxy


def flink(url: str) -> None:
    """Ask a JobManager; Spark's pages and YARN are asked by the same client."""

    async def ask() -> None:
        limit = timedelta(seconds=1)
        async with FlinkClient(ClusterOptions(name="far", url=url, request_timeout=limit)) as client:
            await client.get("/overview", lambda answer: answer)

    asyncio.run(ask())


def signal(url: str) -> None:
    """Ask a signal source; Prometheus is asked by the same client."""

    async def ask() -> None:
        web = Web(SignalSourceOptions(name="far", type="http", url=url, timeout=timedelta(seconds=1)))
        try:
            await web.get("/overview")
        finally:
            await web.close()

    asyncio.run(ask())


def webhook(url: str) -> None:
    """Post an event."""
    with closing(
        WebhookEventHandler(Receiver(url=Secret(f"{url}/overview"), time_limit=timedelta(seconds=1)))
    ) as sends:
        sends.handle(HAPPENED)


def agent(url: str) -> None:
    """Report to a service."""
    with closing(Reporter(url, None)) as reporter:
        reporter.report(HAPPENED)


def master(url: str) -> None:
    """Ask Spark's master from inside of an application."""
    fetch_json(f"{url}/overview")


CLIENTS = [flink, signal, webhook, agent, master]


@pytest.mark.parametrize("ask", CLIENTS)
def test_a_client_goes_through_the_proxy_of_the_environment(proxy: FakeProxy, ask: Callable[[str], None]) -> None:
    """It asks the proxy for the whole address, which nobody could resolve here."""
    ask(FAR)
    assert proxy.was_asked.wait(5)
    path = "/v1/reports" if ask is agent else "/overview"
    assert proxy.asked[0] == f"{FAR}{path}"


@pytest.mark.parametrize("ask", CLIENTS)
def test_no_client_asks_a_proxy_for_this_machine(proxy: FakeProxy, ask: Callable[[str], None]) -> None:
    """It would look on its own: nobody listens here, and that is what comes out."""
    with suppress(HeadgateError, OSError):
        ask("http://127.0.0.1:9")
    assert proxy.asked == []


@pytest.mark.parametrize(
    ("url", "through"),
    [
        ("http://far.example/x", "http://proxy:1"),
        ("https://far.example/x", "http://proxy:2"),
        ("http://user:password@far.example", "http://proxy:1"),
        ("http://near.example:8081", None),
        ("http://a.near.example", None),
        ("http://port.example:8081", None),
        ("http://port.example:8082", "http://proxy:1"),
        ("http://localhost:8081", None),
        ("http://127.8.0.1:8081", None),
        ("http://[::1]:8081", None),
        ("ftp://far.example", None),
    ],
)
def test_which_proxy_an_address_has(monkeypatch: pytest.MonkeyPatch, url: str, through: str | None) -> None:
    """By its scheme, unless `NO_PROXY` names the host, its domain, or the host with that port."""
    monkeypatch.setenv("http_proxy", "http://proxy:1")
    monkeypatch.setenv("https_proxy", "http://proxy:2")
    monkeypatch.setenv("no_proxy", "near.example,port.example:8081")
    assert proxy_of(url) == through


def test_a_password_of_a_proxy_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even where the proxy cannot be reached."""
    monkeypatch.setenv("http_proxy", "http://me:hush-hush@127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    for ask in (flink, signal, webhook):
        with pytest.raises(HeadgateError, match=r"no connection to 127\.0\.0\.1:9") as caught:
            ask(FAR)
        assert "hush-hush" not in json.dumps(str(caught.value))
