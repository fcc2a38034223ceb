"""Served over loopback: the page of a running service, to anybody, at once, and only while it is to be."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from datetime import timedelta
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from threading import Event

import pytest

from headgate.algorithm.decide import decide
from headgate.control.runner import Runner, TickRun, Work
from headgate.errors import ConfigError
from headgate.model.decision import Decision
from headgate.model.identity import JobKey
from headgate.options.service import ClusterOptions, LogOptions, Pipeline, ServiceOptions
from headgate.options.serving import LOOPBACK, Address, MetricsOptions
from headgate.telemetry.board import Board
from headgate.telemetry.server import Site, served
from headgate.telemetry.tap import Tap
from headgate.testing.builders import ORDERS, at, chain, context, evaluated, sample
from headgate.testing.scenario import Scenario
from headgate.wiring import service

Page = Mapping[str, Mapping[tuple[str, ...], float]]
Parse = Callable[[str], Page]

ANYWHERE = Address(host=LOOPBACK, port=0)
SECRET = "open sesame"  # noqa: S105 - of this file alone


def ask(port: int, path: str = "/metrics", *, method: str = "GET", **headers: str) -> tuple[HTTPResponse, bytes]:
    """Ask the server once."""
    with closing(HTTPConnection(LOOPBACK, port, timeout=10)) as connection:
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        return response, response.read()


@pytest.fixture
def board() -> Board:
    """Know nothing yet."""
    return Board()


@pytest.fixture
def port(board: Board) -> Iterator[int]:
    """Serve the board."""
    with served(Site.over(board), ANYWHERE) as port:
        yield port


async def test_a_running_service_can_be_scraped(board: Board, port: int, parse: Parse) -> None:
    """Two cycles over one job: its vertices, what was done, what was told, and how long it took."""
    world = Scenario(factors={"agg": 4.0})
    world.engine.add(context(), sample(chain({"source": 1, "agg": 1})))
    tap, stop, cycles = Tap(board=board), asyncio.Event(), list[tuple[Decision, ...]]()

    def listen(decisions: tuple[Decision, ...]) -> None:
        cycles.append(decisions)
        if any(decision.acts for decision in decisions):
            world.factors.clear()  # one rescale is enough, however many samples come before the stop
        if sum(map(len, cycles)) >= 2:
            stop.set()

    world.events.told.clear()
    runner = Runner(
        observers=(world.observer,),
        cycle=world.cycle(),
        events=tap.events(world.events),
        collect_interval=timedelta(milliseconds=20),
        decide_interval=timedelta(milliseconds=20),
        on_decisions=tap.decisions(listen),
        on_begin=tap.begins,
        on_tick=tap.ticks,
        on_stop=tap.stops,
    )
    assert (await asyncio.to_thread(ask, port, "/readyz"))[0].status == 503
    await runner.run(stop)

    response, body = await asyncio.to_thread(ask, port)
    page = parse(body.decode())
    assert (response.status, response.headers["Content-Type"].split(";")[0]) == (200, "text/plain")
    assert page["headgate_job_scalings_total"] == {("prod", "orders"): 1}
    assert len(page["headgate_job_outcome_info"]) == 1
    assert page["headgate_tick_duration_seconds_count"]["decide",] >= 2
    assert page["headgate_tick_duration_seconds_count"]["collect",] >= 1
    assert page["process_start_time_seconds"][()] > 0
    _, body = await asyncio.to_thread(ask, port, "/readyz")
    assert [check["name"] for check in json.loads(body)["checks"] if not check["ok"]] == ["staying"]


def test_a_page_comes_compressed_to_whom_wants_that(board: Board, port: int) -> None:
    """The same page otherwise; Prometheus always asks for it."""
    board.decided([_decision("orders")])
    _, plain = ask(port)
    response, packed = ask(port, Accept_Encoding="gzip")
    assert response.headers["Content-Encoding"] == "gzip"
    ours = [line for line in plain.splitlines() if line.startswith(b"headgate")]
    assert ours == [line for line in gzip.decompress(packed).splitlines() if line.startswith(b"headgate")]


def test_health_is_told_check_by_check(board: Board, port: int) -> None:
    """With its status for probes and its reasons for people; before the first cycle it lives and is not ready."""
    response, body = ask(port, "/healthz")
    assert (response.status, response.headers.get_content_type()) == (200, "application/json")
    assert {check["name"] for check in json.loads(body)["checks"]} == {"loops", "evaluation"}
    response, body = ask(port, "/readyz?verbose")
    assert (response.status, json.loads(body)["status"]) == (503, "failing")
    checks = {check["name"]: check for check in json.loads(body)["checks"]}
    assert checks["cycle"]["why"] == "the first cycle is not over"
    assert checks["state-store"].keys() == {"name", "ok", "since"}

    board.ticked(TickRun(work=Work.DECIDE, at=at(0), late=timedelta(), took=timedelta(), failed=False))
    response, body = ask(port, "/readyz")
    assert (response.status, json.loads(body)["status"]) == (200, "ok")


def test_whoever_keeps_connections_busy_keeps_no_probe_from_its_answer(port: int) -> None:
    """A pod whose probes fail is killed; the oldest of those that say nothing gives way, or one that is half said."""
    with ExitStack() as idle:
        for number in range(40):
            one = idle.enter_context(socket.create_connection((LOOPBACK, port), timeout=30))
            one.sendall(b"GET /metrics HTTP/1.1\r\nHost:" if number % 2 else b"")
        for path, status in [("/healthz", 200), ("/readyz", 503), ("/metrics", 200)] * 3:
            response, body = ask(port, path)
            assert (response.status, bool(body)) == (status, True)


@pytest.mark.parametrize("shown", ["", "Bearer open", "Bearer open sesam\u00e9", "open sesame"])
def test_who_does_not_know_the_secret_sees_no_metrics(board: Board, shown: str) -> None:
    """A probe cannot know it: it is told what it asks, and none of the reasons."""
    board.vitals.asked_store("postgresql://db.internal refuses")
    with served(Site.over(board, token=SECRET), ANYWHERE) as port:
        response, body = ask(port, Authorization=shown)
        assert (response.status, b"headgate_" in body) == (401, False)
        assert response.headers["WWW-Authenticate"] == "Bearer"
        assert ask(port, "/healthz", Authorization=shown)[0].status == 200
        response, body = ask(port, "/readyz", Authorization=shown)
        assert (response.status, b'"state-store", "ok": false' in body) == (503, True)
        assert b"db.internal" not in body


def test_who_knows_the_secret_sees_everything(board: Board) -> None:
    """As Prometheus shows it."""
    board.vitals.asked_store("postgresql://db.internal refuses")
    with served(Site.over(board, token=SECRET), ANYWHERE) as port:
        assert b"headgate_build_info" in ask(port, Authorization=f"Bearer {SECRET}")[1]
        assert b"db.internal" in ask(port, "/readyz", Authorization=f"Bearer {SECRET}")[1]


def test_the_vertices_of_a_large_fleet_can_be_left_out(board: Board, parse: Parse) -> None:
    """They are most of the series; those of jobs stay."""
    board.decided([_decision("orders")])
    with served(Site.over(board, per_vertex=False), ANYWHERE) as port:
        page = parse(ask(port)[1].decode())
    assert not [name for name in page if name.startswith("headgate_vertex_")]
    assert page["headgate_job_outcome_info"]


def test_other_paths_say_where_the_metrics_are(port: int) -> None:
    """And nothing can be done there but read."""
    response, body = ask(port, "/")
    assert (response.status, b"/metrics" in body) == (404, True)
    assert ask(port, method="POST")[0].status == 405


def test_each_of_many_scrapes_sees_one_cycle_whole(board: Board, port: int, parse: Parse) -> None:
    """While cycles change every job and every graph: outcome, seconds and vertices are of the same fleet."""
    fleets = [
        [_decision(f"{letter}-{number}", seconds=seconds, vertex=letter) for number in range(8)]
        for seconds, letter in enumerate("ab")
    ]
    board.decided(fleets[0])
    over = Event()

    def change() -> None:
        while not over.is_set():
            for fleet in fleets:
                board.decided(fleet)

    with ThreadPoolExecutor(5) as pool:
        changing = pool.submit(change)
        pages = [page.result() for page in [pool.submit(ask, port) for _ in range(16)]]
        over.set()
        changing.result()
    for _, body in pages:
        page = parse(body.decode())
        jobs = {job for _, job, _, _ in page["headgate_job_outcome_info"]}
        assert len(jobs) == 8
        assert {job for _, job in page["headgate_job_outcome_seconds"]} == jobs
        assert {(job, vertex) for _, job, vertex, _ in page["headgate_vertex_parallelism"]} == {
            (job, job[0]) for job in jobs
        }


def test_an_address_in_use_is_a_fault_of_the_configuration(board: Board, port: int) -> None:
    """With its option, the address and what to do."""
    with (
        pytest.raises(ConfigError, match=r"metrics\.address") as raised,
        served(Site.over(board), Address(host=LOOPBACK, port=port)),
    ):
        pass
    (fault,) = raised.value.faults
    assert f"{LOOPBACK}:{port}" in fault
    assert "in use" in fault
    assert "Hint" in fault


def test_nothing_listens_any_more_when_the_service_has_ended(board: Board) -> None:
    """The port is free for the next one."""
    with served(Site.over(board), ANYWHERE) as port:
        assert ask(port)[0].status == 200
    with pytest.raises(ConnectionRefusedError):
        ask(port)


async def test_two_services_on_one_machine(tmp_path: Path) -> None:
    """Nobody has named an address, so the second goes on without; one that is named must be had."""
    options = _options(tmp_path, MetricsOptions())
    async with service(options) as first, service(options) as second:
        assert await first.decide(at(0)) == await second.decide(at(0)) == ()
    with closing(socket.create_server((LOOPBACK, 0))) as taken:
        named = MetricsOptions(address=f":{taken.getsockname()[1]}")
        with pytest.raises(ConfigError, match=r"metrics\.address: cannot listen on"):
            await service(_options(tmp_path, named)).__aenter__()


@pytest.mark.parametrize(("token", "fault"), [("${env:NO_SUCH_TOKEN}", "NO_SUCH_TOKEN"), ("${file:%s}", "is empty")])
async def test_a_token_that_is_none_stops_the_service_at_its_start(tmp_path: Path, token: str, fault: str) -> None:
    """Else everybody would be let in, or nobody."""
    (tmp_path / "token").write_text("\n")
    metrics = MetricsOptions(token=token.replace("%s", str(tmp_path / "token")))
    with pytest.raises(ConfigError, match=rf"metrics\.token: .*{fault}"):
        await service(_options(tmp_path, metrics)).__aenter__()


@pytest.mark.parametrize("shown", [True, False])
async def test_the_service_listens_only_where_it_is_told_to(tmp_path: Path, *, shown: bool) -> None:
    """From before the first tick to the end; switched off, nothing is collected at all."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port = probe.getsockname()[1]
    options = _options(tmp_path, MetricsOptions(address=f":{port}", enabled=shown))
    async with service(options) as runner:
        await runner.observe(at(0))
        if shown:
            _, body = await asyncio.to_thread(ask, port)
            assert b'headgate_cluster_reachable{cluster="lab"} 0.0' in body
            assert b'headgate_events_total{reason="ClusterUnreachable",type="Warning"} 1.0' in body
            _, body = await asyncio.to_thread(ask, port, "/readyz")
            assert b"there are no samples yet" in body
        else:
            with pytest.raises(ConnectionRefusedError):
                await asyncio.to_thread(ask, port)


def _options(directory: Path, metrics: MetricsOptions) -> ServiceOptions:
    return ServiceOptions(
        clusters=(ClusterOptions(name="lab", url=f"http://{LOOPBACK}:1"),),
        pipeline=Pipeline.IN_PROCESS,
        state_store="memory",
        log=LogOptions(path=str(directory)),
        metrics=metrics,
    )


def _decision(name: str, *, seconds: float = 0, vertex: str = "agg") -> Decision:
    job, topology = JobKey(ORDERS.cluster, name), chain({vertex: 2})
    return decide(sample(topology, job=job), evaluated(topology, {}), context(job).options, at(seconds))
