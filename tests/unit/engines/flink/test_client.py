"""The REST client: what it sends, how long it waits, what it makes of failures, and what it never shows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.support.slow_file import slow_file
from tests.unit.engines.flink.conftest import JOB_ID

from headgate.engines.flink import access
from headgate.engines.flink.client import FlinkClient
from headgate.errors import HeadgateError, NotFoundError, RefusedError, UnreachableError
from headgate.options.service import ClusterOptions
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.faults import Fault, FaultKind

SECRET = "tr0ub4dor"  # noqa: S105 -- planted, to be looked for


def same(answer: Any) -> Any:
    """Read nothing into an answer."""
    return answer


@pytest.mark.parametrize(
    ("fault", "error", "text"),
    [
        (Fault(status=404, text="Job x not found"), NotFoundError, "answered 404: Job x not found"),
        (Fault(status=400, text="bad bounds"), RefusedError, "answered 400: bad bounds"),
        (Fault(status=409, text="conflict"), RefusedError, "answered 409"),
        (Fault(status=501, text="no"), RefusedError, "answered 501"),
        (Fault(text="java.lang.UnsupportedOperationException: no"), RefusedError, "answered 500: no"),
        (Fault(text="boom"), UnreachableError, "answered 500: boom"),
        (Fault(status=503, text="no leader"), UnreachableError, "answered 503"),
        (Fault(status=302, text="elsewhere"), UnreachableError, "answered 302"),
        (Fault(kind=FaultKind.GARBLE), UnreachableError, "not understood"),
        (Fault(kind=FaultKind.RESET), UnreachableError, "failed"),
    ],
)
async def test_every_failure_becomes_one_of_headgates(
    fault: Fault, error: type[HeadgateError], text: str, server: FakeFlink, client: FlinkClient
) -> None:
    """Its text names the cluster, the call, and Flink's own line."""
    server.plant(fault)
    with pytest.raises(HeadgateError, match=f"cluster fake: GET /overview .*{text}") as caught:
        await client.get("/overview", same)
    assert isinstance(caught.value, error)


async def test_no_answer_in_time(server: FakeFlink, hasty: FlinkClient) -> None:
    """The time limit holds for the whole call, and the text says how long it was."""
    server.plant(Fault(kind=FaultKind.HANG))
    with pytest.raises(UnreachableError, match=r"cluster fake: GET /overview was not answered within 0\.5 s"):
        await hasty.get("/overview", same)


async def test_nobody_listens() -> None:
    """A refused connection is unreachable, within the time limit."""
    options = ClusterOptions(name="away", url="http://127.0.0.1:9", request_timeout=timedelta(seconds=1))
    async with FlinkClient(options) as client:
        with pytest.raises(UnreachableError, match="cluster away: GET /overview failed"):
            await client.get("/overview", same)


@pytest.mark.parametrize("fault", [Fault(status=503, times=1), Fault(kind=FaultKind.RESET, times=1)])
async def test_a_passing_failure_of_a_get_is_tried_again(fault: Fault, server: FakeFlink, client: FlinkClient) -> None:
    """A broken connection or a gateway's complaint is often over at once."""
    server.plant(fault)
    assert (await client.get("/overview", same))["slots-total"] == server.slots
    assert server.asked("/overview") == 2


async def test_a_plain_500_is_not_tried_again(server: FakeFlink, client: FlinkClient) -> None:
    """Flink has answered; the next tick asks anyway."""
    server.plant(Fault(times=1))
    with pytest.raises(UnreachableError):
        await client.get("/overview", same)
    assert server.asked("/overview") == 1


@pytest.mark.parametrize("method", ["PUT", "POST", "PATCH"])
async def test_what_changes_something_is_sent_once(method: str, server: FakeFlink, client: FlinkClient) -> None:
    """Nobody knows what came of it: neither is it sent again, nor does another answer pass for its own."""
    path = f"/jobs/{JOB_ID}"
    send: dict[str, Callable[[], Awaitable[object]]] = {
        "PUT": lambda: client.put(path, {}),
        "POST": lambda: client.post(path, {}, same),
        "PATCH": lambda: client.patch(path),
    }
    server.plant(Fault(status=503, times=1))
    with pytest.raises(UnreachableError, match="answered 503"):
        await send[method]()
    assert [request.method for request in server.requests] == [method]


class MovedFlink(FakeFlink):
    """A server that sends whoever asks for `/moved` elsewhere."""

    def _routes(self) -> list[web.RouteDef]:
        return [web.get("/moved", self._moved), *super()._routes()]

    async def _moved(self, _: web.Request) -> web.Response:
        return web.Response(status=307, headers={"Location": f"{self.url}/overview"})


async def test_nobody_is_followed_elsewhere() -> None:
    """Credentials are for the address that the operator has named, and so is what is asked for."""
    async with MovedFlink() as server, FlinkClient(ClusterOptions(name="fake", url=server.url)) as client:
        with pytest.raises(UnreachableError, match="answered 307"):
            await client.get("/moved", same)
    assert server.asked("/overview") == 0


async def test_an_answer_of_another_shape_is_unreachable(client: FlinkClient) -> None:
    """What is not understood is no usable answer, and says what was missing."""
    with pytest.raises(UnreachableError, match="KeyError: 'vertices'"):
        await client.get("/overview", lambda answer: answer["vertices"])


async def test_calls_in_flight_are_bounded(server: FakeFlink) -> None:
    """A third call waits until one of two is over, however many ask."""
    server.plant(Fault(kind=FaultKind.HANG))
    options = ClusterOptions(
        name="fake", url=server.url, max_calls_in_flight=2, request_timeout=timedelta(milliseconds=100)
    )
    async with FlinkClient(options) as client:
        calls = [asyncio.create_task(client.get("/overview", same)) for _ in range(4)]
        done, _ = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        assert done
        assert len(server.requests) <= 3
        await asyncio.gather(*calls, return_exceptions=True)
    assert len(server.requests) == 4


async def test_headers_and_token_are_sent(server: FakeFlink, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """References are resolved only here, and a token that is old enough is read again, so that it may rotate."""
    monkeypatch.setattr(access, "TOKEN_AGE_S", 0.0)
    monkeypatch.setenv("HEADGATE_TEST_KEY", SECRET)
    token = tmp_path / "token"
    token.write_text("first\n")
    options = ClusterOptions(
        name="fake", url=server.url, headers={"X-Key": "${env:HEADGATE_TEST_KEY}"}, token_file=token
    )
    async with FlinkClient(options) as client:
        await client.get("/overview", same)
        token.write_text("second\n")
        await client.get("/overview", same)
    sent = [(request.headers["X-Key"], request.headers["Authorization"]) for request in server.requests]
    assert sent == [(SECRET, "Bearer first"), (SECRET, "Bearer second")]
    assert SECRET not in repr(options)


async def test_a_token_on_a_slow_disk_keeps_nobody_else_waiting(server: FakeFlink, tmp_path: Path) -> None:
    """It is read in a thread, here from a pipe into which the token is written only after others were answered."""
    token = tmp_path / "token"
    release = slow_file(token)
    options = ClusterOptions(name="fake", url=server.url)
    async with FlinkClient(replace(options, token_file=token)) as slow, FlinkClient(options) as other:
        waiting = asyncio.create_task(slow.get("/overview", same))
        await other.get("/overview", same)
        release()
        await waiting
    assert [request.headers.get("Authorization") for request in server.requests] == [None, "Bearer in-time"]


async def test_a_token_file_is_not_read_for_each_request(server: FakeFlink, tmp_path: Path) -> None:
    """A thousand jobs ask many times a second."""
    token = tmp_path / "token"
    token.write_text("first")
    async with FlinkClient(ClusterOptions(name="fake", url=server.url, token_file=token)) as client:
        await client.get("/overview", same)
        token.unlink()
        await client.get("/overview", same)
    assert [request.headers["Authorization"] for request in server.requests] == ["Bearer first"] * 2


@pytest.mark.parametrize("status", [400, 404, 500, 503])
async def test_a_secret_is_never_in_an_error(
    status: int, server: FakeFlink, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even when the other side repeats the header, the password or the token in its answer."""
    monkeypatch.setenv("HEADGATE_TEST_KEY", SECRET)
    token = tmp_path / "token"
    token.write_text("t0kent0ken")
    options = ClusterOptions(
        name="fake", url=server.url, headers={"X-Key": "${env:HEADGATE_TEST_KEY}"}, token_file=token
    )
    server.plant(Fault(status=status, text=f"no entry with {SECRET} and t0kent0ken"))
    async with FlinkClient(options) as client:
        with pytest.raises(HeadgateError, match=r"no entry with \*\*\* and \*\*\*") as caught:
            await client.get("/overview", same)
    assert SECRET not in str(caught.value.__cause__)


async def test_a_password_in_the_address_is_sent_and_not_shown(
    server: FakeFlink, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address may refer to it as any other value."""
    monkeypatch.setenv("HEADGATE_TEST_KEY", SECRET)
    url = server.url.replace("//", "//ada:${env:HEADGATE_TEST_KEY}@")
    server.plant(Fault(text=f"who is {SECRET}?"))
    async with FlinkClient(ClusterOptions(name="fake", url=url)) as client:
        with pytest.raises(UnreachableError, match=r"who is \*\*\*\?"):
            await client.get("/overview", same)
        assert SECRET not in repr(vars(client))
    assert server.requests[0].headers["Authorization"].startswith("Basic ")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"headers": {"X": "${env:HEADGATE_NOT_SET}"}}, "HEADGATE_NOT_SET is not set"),
        ({"token_file": Path("/nowhere/token")}, "secret file /nowhere/token cannot be read"),
        (
            {"ca_file": Path("/nowhere/ca.pem")},
            "cluster fake cannot be asked: certificates cannot be read from /nowhere/ca.pem",
        ),
    ],
)
async def test_what_cannot_be_resolved_is_said(change: dict[str, Any], text: str, server: FakeFlink) -> None:
    """It concerns this cluster alone and may be mended while Headgate runs."""
    async with FlinkClient(ClusterOptions(name="fake", url=server.url, **change)) as client:
        with pytest.raises(UnreachableError, match=text):
            await client.get("/overview", same)
    assert server.requests == []


async def test_a_call_that_outlives_its_client_opens_no_connection_that_nobody_closes(client: FlinkClient) -> None:
    """A shared answer goes on when the job that asked is cancelled; at shutdown it must not open a new session."""
    await client.get("/overview", same)
    await client.close()
    with pytest.raises(UnreachableError, match="is closed"):
        await client.get("/overview", same)
    assert client._session is None
