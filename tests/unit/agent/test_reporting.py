"""Reporting to a service that is there, that is not, and that says no: the agent goes on in any case."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event as Flag
from threading import Thread, active_count
from typing import Any

import pytest

from headgate.agent.reporting import PATH, open_reporter
from headgate.errors import ConfigError
from headgate.model.events import Event, EventReason, EventType
from headgate.options.agent import AgentOptions
from headgate.testing.builders import ORDERS, at

REFERENCE = "${env:TOKEN}"


def event(number: int) -> Event:
    """Make one of many."""
    reason = EventReason.SCALING
    return Event(at=at(number), type=EventType.NORMAL, reason=reason, message="", key=str(number), subject=ORDERS)


class Service(ThreadingHTTPServer):
    """Takes reports, and says no to the first ones."""

    def __init__(self, refusals: int) -> None:
        """Listen on loopback."""
        super().__init__(("127.0.0.1", 0), Asked)
        self.refusals = refusals
        self.elsewhere = ""
        self.asked: list[tuple[str, str, Any]] = []
        self.heard = Flag()

    @property
    def keys(self) -> list[str]:
        """The keys of all events that were taken."""
        return [told["key"] for _, _, report in self.asked for told in report["events"]]


class Asked(BaseHTTPRequestHandler):
    """One request."""

    server: Service

    def do_GET(self) -> None:
        """Take note: a redirect of a report is fetched like this."""
        self.server.asked.append((self.path, self.headers.get("Authorization", ""), {"events": []}))
        self.send_response_only(204)
        self.end_headers()

    def do_POST(self) -> None:
        """Take a report."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.refusals -= 1
        if self.server.refusals < 0:
            self.server.asked.append((self.path, self.headers.get("Authorization", ""), json.loads(body)))
            self.server.heard.set()
        if self.server.elsewhere:
            self.send_response_only(302)
            self.send_header("Location", self.server.elsewhere)
        else:
            self.send_response_only(503 if self.server.refusals >= 0 else 204)
        self.send_header("Content-Length", "0")
        self.end_headers()


@pytest.fixture
def service(request: pytest.FixtureRequest) -> Iterator[Service]:
    """Run one until the end of the test."""
    server = Service(getattr(request, "param", 0))
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def options(port: int, **more: Any) -> AgentOptions:
    """Report to that port."""
    return AgentOptions(report_url=f"http://127.0.0.1:{port}/", **more)


def test_what_is_told_arrives_in_order_with_the_token(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the path that a service listens to; what waits when the agent ends is sent still."""
    monkeypatch.setenv("TOKEN", "open sesame")
    with ExitStack() as opened:
        report = open_reporter(options(service.server_port, report_token=REFERENCE), opened)
        for number in range(250):
            report(event(number))
    assert service.keys == [str(number) for number in range(250)]
    assert {(path, token) for path, token, _ in service.asked} == {(PATH, "Bearer open sesame")}


@pytest.mark.parametrize("service", [1], indirect=True)
def test_after_a_refusal_later_reports_are_sent_again(service: Service) -> None:
    """What was refused is lost: a report is no reason to wait."""
    with ExitStack() as opened:
        report = open_reporter(options(service.server_port), opened)
        number = 0
        while not service.heard.wait(0.01):
            report(event(number))
            number += 1
    assert service.keys
    assert "0" not in service.keys


def test_nobody_there_holds_nothing_up() -> None:
    """Thousands of values may be told, and the end comes all the same."""
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        with ExitStack() as opened:
            report = open_reporter(options(taken.getsockname()[1]), opened)
            for number in range(5000):
                report(event(number))


def test_without_an_address_nothing_is_sent() -> None:
    """Nor is anything started that could."""
    before = active_count()
    with ExitStack() as opened:
        open_reporter(AgentOptions(), opened)(event(1))
        assert active_count() == before


def test_a_token_that_is_not_there_is_a_fault_of_the_options() -> None:
    """Told at once, and not as a service that says no."""
    with ExitStack() as opened, pytest.raises(ConfigError, match=r"report\.token: .*NO_SUCH_TOKEN"):
        open_reporter(options(1, report_token=REFERENCE.replace("TOKEN", "NO_SUCH_TOKEN")), opened)


def test_a_token_that_cannot_stand_in_a_header_is_refused_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as one with a line break: what it would fail with later names it in full."""
    monkeypatch.setenv("TOKEN", "open\nsesame")
    with ExitStack() as opened, pytest.raises(ConfigError, match="line break") as refused:
        open_reporter(options(1, report_token=REFERENCE), opened)
    assert "sesame" not in str(refused.value)


def test_a_service_that_points_elsewhere_is_not_followed(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """The token is for the one that the options name."""
    monkeypatch.setenv("TOKEN", "open sesame")
    other = Service(0)
    service.elsewhere = f"http://127.0.0.1:{other.server_port}{PATH}"
    thread = Thread(target=other.serve_forever, args=(0.01,))
    thread.start()
    with ExitStack() as opened:
        report = open_reporter(options(service.server_port, report_token=REFERENCE), opened)
        report(event(1))
        assert service.heard.wait(60)
    other.shutdown()
    thread.join()
    other.server_close()
    assert other.asked == []
