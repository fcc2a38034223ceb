"""Reports over loopback: whom the service lets in, what it keeps, and what `explain` then says of an agent's job."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack, closing
from dataclasses import replace
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headgate.agent.reporting import body_of, open_reporter
from headgate.algorithm.decide import decide
from headgate.algorithm.explain import explain as explanation
from headgate.cli import app
from headgate.errors import ConfigError, UnreachableError
from headgate.intake.keeping import Keeper
from headgate.intake.reading import Report
from headgate.intake.server import LARGEST_BODY, PATH, taking_reports
from headgate.model.events import Event, EventReason, EventType
from headgate.model.identity import JobKey
from headgate.model.state import JobState
from headgate.options.agent import AgentOptions
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import LogOptions, ServiceOptions
from headgate.options.serving import LOOPBACK, Address, IntakeOptions
from headgate.samplelog.reader import LogReader
from headgate.testing.builders import at, chain, evaluated, sample
from headgate.testing.fakes import RecordingEvents
from headgate.wiring.intake import open_intake

APPS = JobKey("spark", "orders"), JobKey("spark", "clicks")
GRAPH = chain({"orders": 2})
SAMPLES = [sample(GRAPH, job=job, tick=at(60)) for job in APPS]
DECISIONS = [decide(one, evaluated(GRAPH, {"orders": 2.0}), AutoscalerOptions(), at(60), JobState()) for one in SAMPLES]
EVENT = Event(at=at(60), type=EventType.NORMAL, reason=EventReason.SCALING, message="more", key="k", subject=APPS[0])
ANYWHERE = Address(host=LOOPBACK, port=0)
SECRET = "open sesame"  # noqa: S105 - of this file alone


class Kept:
    """Keeps reports in memory, or fails."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        self.reports: list[Report] = []
        self.fault: Exception | None = None

    def keep(self, report: Report) -> None:
        """Keep one."""
        if self.fault:
            raise self.fault
        self.reports.append(report)


@pytest.fixture
def kept() -> Kept:
    """Keep nothing yet."""
    return Kept()


@pytest.fixture
def port(kept: Kept) -> Iterator[int]:
    """Listen, for those who know the secret."""
    with taking_reports(kept.keep, ANYWHERE, SECRET) as listening:
        yield listening


def send(
    port: int, body: bytes = b"", *, path: str = PATH, token: str = SECRET, length: int | None = None
) -> tuple[int, str]:
    """Send a report, and give status and text of the answer."""
    with closing(HTTPConnection(LOOPBACK, port, timeout=30)) as connection:
        connection.putrequest("POST", path)
        connection.putheader("Authorization", f"Bearer {token}")
        connection.putheader("Content-Length", str(len(body) if length is None else length))
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def test_a_report_is_kept(port: int, kept: Kept) -> None:
    """Whole, and the sender is told so."""
    assert send(port, body_of([*SAMPLES, *DECISIONS, EVENT])) == (204, "")
    assert [len(part) for part in (kept.reports[0].samples, kept.reports[0].decisions, kept.reports[0].events)] == [
        2,
        2,
        1,
    ]


@pytest.mark.parametrize("token", ["", "open", "open sesam\u00e9", "Bearer open sesame"])
def test_who_does_not_know_the_secret_is_not_let_in(port: int, kept: Kept, token: str) -> None:
    """Nothing of what they send is read."""
    status, text = send(port, body_of([EVENT]), token=token)
    assert status == 401
    assert SECRET not in text
    assert not kept.reports


@pytest.mark.parametrize(
    ("path", "length", "status"),
    [("/v2/reports", None, 404), ("/", None, 404), (PATH, LARGEST_BODY + 1, 413)],
)
def test_what_is_out_of_place_is_refused_unread(
    port: int, kept: Kept, path: str, length: int | None, status: int
) -> None:
    """Another path, and a report that is too large."""
    assert send(port, path=path, length=length)[0] == status
    assert not kept.reports


def test_what_is_no_report_and_what_cannot_be_kept_are_told_apart(port: int, kept: Kept) -> None:
    """The one is the sender's fault; the other may be sent again."""
    assert send(port, b"{}") == (
        400,
        "a report of version None, this Headgate reads 1. Hint: run the same Headgate on both sides\n",
    )
    kept.fault = UnreachableError("the samples log cannot be written")
    assert send(port, body_of([EVENT])) == (503, "the samples log cannot be written\n")


def test_whatever_a_report_makes_happen_its_sender_is_answered(port: int, kept: Kept) -> None:
    """Else it would never know what it should not send again."""
    kept.fault = OverflowError("a number")
    assert send(port, body_of([EVENT])) == (500, "the report cannot be kept: OverflowError\n")


def test_who_comes_when_too_many_are_there_is_sent_away(port: int, kept: Kept) -> None:
    """Connections that say nothing hold a place; others are told, and may come again."""
    with ExitStack() as open_ones:
        for _ in range(32):
            open_ones.enter_context(socket.create_connection((LOOPBACK, port), timeout=30))
        one_more = open_ones.enter_context(socket.create_connection((LOOPBACK, port), timeout=30))
        assert one_more.recv(100).startswith(b"HTTP/1.0 503 ")
    assert not kept.reports


def test_an_address_that_is_taken_is_a_fault_of_the_configuration(port: int, kept: Kept) -> None:
    """Told at the start, with the option's name."""
    with (
        pytest.raises(ConfigError, match=r"agents\.address: cannot listen on"),
        taking_reports(kept.keep, Address(host=LOOPBACK, port=port), None),
    ):
        pass


def test_applications_that_tick_at_the_same_instant_are_all_kept(tmp_path: Path) -> None:
    """Each has files of its own; events reach the listeners."""
    events = RecordingEvents()
    Keeper(tmp_path, events).keep(
        Report(version=1, samples=tuple(SAMPLES), decisions=tuple(DECISIONS), events=(EVENT,))
    )
    reader = LogReader(tmp_path)
    assert reader.jobs(at(0), at(120)) == tuple(sorted(APPS))
    assert reader.read("samples", at(0), at(120)).num_rows == 2
    assert events.told == [EVENT]


def test_others_than_this_machine_need_a_token() -> None:
    """Whoever reaches the address may write into the log."""
    with pytest.raises(ValueError, match=r"so token is needed"):
        IntakeOptions(address="10.0.0.1:9465")
    assert IntakeOptions(address="10.0.0.1:9465", token=SECRET).listen_on == Address(host="10.0.0.1", port=9465)
    assert IntakeOptions(address=":9465").listen_on == Address(host=LOOPBACK, port=9465)


def test_explain_on_the_services_machine_tells_of_an_attached_application(tmp_path: Path) -> None:
    """What the agent decided inside of the application is what `headgate explain` says there."""
    keeper = Keeper(tmp_path / "log", RecordingEvents())
    with taking_reports(keeper.keep, ANYWHERE, SECRET) as port, ExitStack() as opened:
        report = open_reporter(AgentOptions(report_url=f"http://{LOOPBACK}:{port}", report_token=SECRET), opened)
        report(SAMPLES[0])
        report(DECISIONS[0])
    config = tmp_path / "headgate.yaml"
    config.write_text(f"clusters: []\nagents.address: ':9465'\nstate-store: memory\nlog.path: {tmp_path}/log\n")
    said = CliRunner().invoke(app, ["explain", "spark/orders", "-c", str(config)])
    assert said.output.splitlines() == list(explanation(DECISIONS[0]))


async def test_nobody_reports_about_the_services_own_jobs(tmp_path: Path) -> None:
    """The door of the service itself is guarded."""
    with closing(socket.create_server((LOOPBACK, 0))) as free:
        address = f"{LOOPBACK}:{free.getsockname()[1]}"
    options = ServiceOptions(
        clusters=(), job_lists=("spark",), agents=IntakeOptions(address=address), log=LogOptions(path=str(tmp_path))
    )
    async with AsyncExitStack() as stack:
        port = open_intake(options, RecordingEvents(), stack)
        assert port is not None
        status, text = await asyncio.to_thread(send, port, body_of([replace(EVENT, at=datetime.now(UTC))]))
        assert status == 400
        assert "spark is the service's own" in text


async def test_a_service_takes_reports_only_where_it_is_told_to(tmp_path: Path) -> None:
    """Without an address it listens nowhere; a token that is not there is a fault of the configuration."""
    agents = IntakeOptions(address="127.0.0.1:9465", token="${env:NO_SUCH_TOKEN}")  # noqa: S106 - a reference
    log = LogOptions(path=str(tmp_path))
    async with AsyncExitStack() as stack:
        assert open_intake(ServiceOptions(clusters=(), job_lists=("mine",), log=log), RecordingEvents(), stack) is None
        with pytest.raises(ConfigError, match=r"agents\.token: .*NO_SUCH_TOKEN"):
            open_intake(ServiceOptions(clusters=(), agents=agents, log=log), RecordingEvents(), stack)
