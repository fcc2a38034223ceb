"""An HTTP service may be slow, wrong or gone: each has its sentence, and none shows a secret."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.support.slow_file import slow_file

from headgate.errors import UnreachableError
from headgate.model.samples import Signal
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.signals import SignalOptions, SignalSourceOptions
from headgate.ports import Missing
from headgate.signals.http import HttpSource
from headgate.signals.prometheus import PrometheusSource
from headgate.signals.web import Web
from headgate.testing.builders import at, context
from headgate.testing.fake_web import FakeWeb, WebAnswer

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SECRET = "planted-secret"  # noqa: S105 - told apart in messages, opens nothing


@pytest.fixture
async def server() -> AsyncIterator[FakeWeb]:
    """Serve an empty document."""
    async with FakeWeb() as server:
        yield server


def options(url: str, **others: object) -> SignalSourceOptions:
    """Make a source that is given up after half a second."""
    limit = timedelta(seconds=0.5)
    return SignalSourceOptions(name="there", type="http", url=url, timeout=limit, **others)  # type: ignore[arg-type]


async def asked(server: FakeWeb, query: str = "$.v", *, timestamp: str | None = None, **others: object) -> object:
    """Ask for one value; give the signal, or why there is none."""
    declared = SignalOptions(name="s", source="there", query=query, timestamp=timestamp)
    source = HttpSource(options(server.url, **others), [declared], clock=lambda: at(7))
    found = (await source.query(context(), ["s"]))["s"]
    await source.close()
    return found.why if isinstance(found, Missing) else found


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (WebAnswer(text="{}", status=500), "there answered 500 Internal Server Error"),
        (WebAnswer(text="oh no", status=503), "there answered 503 with something that is no JSON: oh no"),
        (WebAnswer(text='{"v": '), 'there answered 200 with something that is no JSON: {"v":'),
        (WebAnswer(text=""), "there answered 200 with something that is no JSON: nothing"),
        (WebAnswer(status=401), "there answered 401: the credentials are not accepted"),
        (WebAnswer(status=302, headers={"Location": "/"}), "there answered 302, a redirect."),
        (WebAnswer(text="{}"), "there: $.v finds no values in the answer, expected one"),
        (WebAnswer(text='{"v": null}'), "what stands at $.v is no number but None"),
        (WebAnswer(text='{"v": true}'), "what stands at $.v is no number but True"),
        (WebAnswer(text='{"v": "many"}'), "what stands at $.v is no number but 'many'"),
        (WebAnswer(text='{"v": [1, 2]}'), "what stands at $.v is no number but [1, 2]"),
        (WebAnswer(text='{"v": NaN}'), "what stands at $.v is nan"),
        (WebAnswer(text='{"v": 1e999}'), "what stands at $.v is inf"),
        (WebAnswer(text='{"v": 1}', after_s=5), "there did not answer within 0.5 s"),
    ],
)
async def test_what_is_no_answer_has_its_sentence(server: FakeWeb, answer: WebAnswer, why: str) -> None:
    """Whatever a service says that is not one finite number."""
    server.answer = answer
    found = await asked(server)
    assert isinstance(found, str)
    assert found.startswith(why)


async def test_several_values_are_counted() -> None:
    """An error that names how many."""
    async with FakeWeb(WebAnswer(text='{"v": [1, 2, 3]}')) as server:
        assert await asked(server, "$.v[*]") == "there: $.v[*] finds 3 values in the answer, expected one"


async def test_nobody_there(server: FakeWeb) -> None:
    """The address is named, not a stack of exceptions."""
    server.url = "http://127.0.0.1:9"
    assert await asked(server) == "there cannot be asked: no connection to 127.0.0.1:9 (Connection refused)"


async def test_a_number_may_be_a_text(server: FakeWeb) -> None:
    """As many services write large ones; without a time of its own it is of now."""
    server.answer = WebAnswer(text='{"v": "12.5"}')
    assert await asked(server) == Signal(value=12.5, measured_at=at(7))


@pytest.mark.parametrize(
    "time", ["1767268800", "1767268800000", '"2026-01-01T12:00:00Z"', '"2026-01-01T12:00:00"', '"1767268800.0"']
)
async def test_the_time_of_a_value_is_its_own(server: FakeWeb, time: str) -> None:
    """In epoch seconds, epoch milliseconds or ISO 8601; without a zone it is UTC."""
    server.answer = WebAnswer(text=f'{{"v": 1, "t": {time}}}')
    assert await asked(server, timestamp="$.t") == Signal(value=1.0, measured_at=NOON)


async def test_a_time_that_is_none_makes_the_value_missing(server: FakeWeb) -> None:
    """A value of unknown age is no value."""
    server.answer = WebAnswer(text='{"v": 1, "t": "yesterday"}')
    why = "there: the time 'yesterday' is neither epoch seconds or milliseconds nor ISO 8601"
    assert await asked(server, timestamp="$.t") == why


async def test_a_faulty_path_is_told(server: FakeWeb) -> None:
    """Of JSONPath."""
    found = await asked(server, "$[")
    assert isinstance(found, str)
    assert found.startswith("there: ")


async def test_signals_of_one_answer_are_asked_for_once(server: FakeWeb) -> None:
    """Of two paths, two questions, however many jobs have them."""
    server.answer = WebAnswer(text='{"v": 1, "w": 2}')
    declared = [
        SignalOptions(name=name, source="there", path=path, query=query)
        for name, path, query in (("v", "/a", "$.v"), ("w", "/a", "$.w"), ("x", "/b?job=${job}", "$.v"))
    ]
    source = HttpSource(options(server.url), declared)
    found = await source.query(context(), ["v", "w", "x"])
    await source.close()
    assert {name: one.value for name, one in found.items() if isinstance(one, Signal)} == {"v": 1.0, "w": 2.0, "x": 1.0}
    assert sorted(request.path for request in server.requests) == ["/a", "/b?job=orders"]


async def test_a_declaration_may_change_while_the_source_lives(server: FakeWeb) -> None:
    """What the job's options say now is asked, also of a signal that is new; another source's is not its business."""
    server.answer = WebAnswer(text='{"v": 1, "w": 2}')
    source = HttpSource(options(server.url), [SignalOptions(name="s", source="there", query="$.v")])
    now = (
        SignalOptions(name="s", source="there", query="$.w"),
        SignalOptions(name="new", source="there", query="$.v"),
        SignalOptions(name="foreign", source="elsewhere", query="$.v"),
    )
    found = await source.query(context(options=AutoscalerOptions(signals_in_force=now)), ["s", "new", "foreign"])
    await source.close()
    assert {name: one.value for name, one in found.items() if isinstance(one, Signal)} == {"s": 2.0, "new": 1.0}


async def test_credentials_go_along_and_are_never_told(
    server: FakeWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Token, password and headers, looked up at each call; an answer that quotes them is masked."""
    token = tmp_path / "token"
    token.write_text("first-token\n")
    monkeypatch.setenv("SECRET", SECRET)
    server.answer = WebAnswer(text=f"you sent {SECRET} and first-token")
    found = await asked(server, token=f"${{file:{token}}}", headers={"X-Key": "${env:SECRET}"})
    assert found == "there answered 200 with something that is no JSON: you sent *** and ***"
    assert server.requests[0].headers["Authorization"] == "Bearer first-token"
    assert server.requests[0].headers["X-Key"] == SECRET
    token.write_text("second-token")
    await asked(server, token=f"${{file:{token}}}")
    assert server.requests[1].headers["Authorization"] == "Bearer second-token"
    await asked(server, username="me", password="${env:SECRET}")  # noqa: S106 - a reference
    assert server.requests[2].headers["Authorization"] == "Basic bWU6cGxhbnRlZC1zZWNyZXQ="


async def test_a_token_on_a_slow_disk_keeps_nobody_else_waiting(server: FakeWeb, tmp_path: Path) -> None:
    """It is read in a thread, here from a pipe into which the token is written only after others were answered."""
    server.answer = WebAnswer(text='{"v": 1}')
    token = tmp_path / "token"
    release = slow_file(token)
    waiting = asyncio.create_task(asked(server, token=f"${{file:{token}}}"))
    await asked(server)
    release()
    await waiting
    assert [request.headers.get("Authorization") for request in server.requests] == [None, "Bearer in-time"]


async def test_a_secret_that_cannot_be_had_is_told(server: FakeWeb) -> None:
    """Nothing is sent without it."""
    found = await asked(server, token="${env:HEADGATE_NO_SUCH_TOKEN}")  # noqa: S106 - a reference
    assert isinstance(found, str)
    assert "environment variable HEADGATE_NO_SUCH_TOKEN is not set" in found
    assert server.requests == []


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (WebAnswer(text='{"status": "error"}', status=500), "there answered 500: Internal Server Error"),
        (WebAnswer(text='{"status": "success"}'), "there answered 200 with JSON that is not Prometheus'"),
        (WebAnswer(text="<html>"), "there answered 200 with something that is no JSON: <html>"),
        (WebAnswer(after_s=5), "there did not answer within 0.5 s"),
    ],
)
async def test_who_is_no_prometheus_is_told(server: FakeWeb, answer: WebAnswer, why: str) -> None:
    """For each of the queries that were asked together, in one call: a server in trouble is not asked for each."""
    server.answer = answer
    declared = [SignalOptions(name=name, source="there", query=name) for name in ("a", "b")]
    source = PrometheusSource(options(server.url), declared)
    assert await source.query(context(), ["a", "b"]) == {"a": Missing(why=why), "b": Missing(why=why)}
    assert len(server.requests) == 1
    await source.close()


async def test_a_call_that_outlives_its_source_opens_no_connection_that_nobody_closes(server: FakeWeb) -> None:
    """What several jobs share goes on when one of them gives up; at shutdown it must not open a new session."""
    web = Web(options(server.url))
    await web.close()
    with pytest.raises(UnreachableError, match="it is closed"):
        await web.get()
