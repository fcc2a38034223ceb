"""What becomes of answers that are none, in the words of a real Prometheus where it has some."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from headgate.engines.prometheus.server import PrometheusServer
from headgate.errors import UnreachableError
from headgate.options.prometheus import PrometheusOptions
from headgate.testing.fake_web import FakeWeb, WebAnswer

Opened = Callable[..., PrometheusServer]

EMPTY = '{"status":"success","data":{"resultType":"matrix","result":[]}}'
PARSE_ERROR = (
    '{"status":"error","errorType":"bad_data","error":"invalid parameter \\"query\\": 1:5: parse error: '
    "unexpected character inside braces: '['\"}"
)
TOO_MANY = (
    '{"status":"error","errorType":"execution",'
    '"error":"query processing would load too many samples into memory in query execution"}'
)
IN_PART = EMPTY[:-1] + ',"warnings":["store 10.0.0.7 did not answer"]}'


@pytest.fixture
async def web() -> AsyncIterator[FakeWeb]:
    """Serve nothing found."""
    async with FakeWeb(WebAnswer(text=EMPTY)) as web:
        yield web


@pytest.fixture
async def opened(web: FakeWeb) -> AsyncIterator[Opened]:
    """Give what opens a server with these options, and closes it."""
    servers: list[PrometheusServer] = []

    def open_server(**options: Any) -> PrometheusServer:
        servers.append(PrometheusServer("lab", PrometheusOptions(**{"url": web.url, **options})))
        return servers[-1]

    yield open_server
    for server in servers:
        await server.close()


async def test_a_query_is_posted(web: FakeWeb, opened: Opened) -> None:
    """It would be too long for an address; the time limit goes along, so that Prometheus gives up too."""
    assert await opened().ask("up[1m]") == ()
    (request,) = web.requests
    assert (request.method, request.path) == ("POST", "/api/v1/query")
    assert request.form == {"query": "up[1m]", "timeout": "10"}


async def test_samples_are_read_with_their_times(web: FakeWeb, opened: Opened) -> None:
    """What is no number is left out: it is Flink's word for not knowing."""
    found = '[{"metric":{"job_id":"a"},"values":[[1.5,"2"],[2.5,"NaN"],[3.5,"+Inf"],[4.5,"3"]]}]'
    web.answer = WebAnswer(text=EMPTY.replace("[]", found))
    (series,) = await opened().ask("up[1m]")
    assert (series.labels, series.samples) == ({"job_id": "a"}, {1.5: 2.0, 4.5: 3.0})


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (WebAnswer(status=400, text=PARSE_ERROR), "prometheus of cluster lab refuses .*unexpected character inside"),
        (WebAnswer(status=422, text=TOO_MANY), "refuses .*would load too many samples into memory"),
        (WebAnswer(status=503, text='{"status":"error","error":"query timed out"}'), "refuses .*query timed out"),
        (WebAnswer(status=500, text="{}"), "refuses up: Internal Server Error"),
        (WebAnswer(text=IN_PART), "answers up in part only: .*store 10.0.0.7 did not answer"),
        (WebAnswer(status=502, text="<html>Bad Gateway</html>"), "prometheus of cluster lab answered 502 .*no JSON"),
        (WebAnswer(text="[]"), "JSON that is not Prometheus'"),
        (WebAnswer(text=EMPTY.replace("[]", '[{"metric":{}}]')), "JSON that is not Prometheus'"),
        (WebAnswer(text=" " * (16 * 2**20 + 1)), "answered with more than 16777216 bytes"),
        (WebAnswer(status=401, text="no"), "answered 401: the credentials are not accepted"),
        (WebAnswer(status=302, text="", headers={"Location": "/login"}), "a redirect"),
    ],
)
async def test_an_answer_that_is_none_is_told(web: FakeWeb, opened: Opened, answer: WebAnswer, said: str) -> None:
    """With the server's name and its own words; it may be better at the next tick."""
    web.answer = answer
    with pytest.raises(UnreachableError, match=said):
        await opened().ask("up")


async def test_a_server_that_hangs_is_given_up(web: FakeWeb, opened: Opened) -> None:
    """After the time limit of one query."""
    web.answer = WebAnswer(after_s=30)
    with pytest.raises(UnreachableError, match=r"prometheus of cluster lab did not answer within 0.2 s"):
        await opened(timeout=timedelta(milliseconds=200)).ask("up")


async def test_a_server_that_is_not_there_is_named(opened: Opened) -> None:
    """Without its address, which may hold a password."""
    with pytest.raises(UnreachableError, match="prometheus of cluster lab cannot be asked: no connection") as caught:
        await opened(url="http://me:swordfish@127.0.0.1:1").ask("up")
    assert "swordfish" not in str(caught.value)


async def test_the_first_failure_of_many_is_raised_when_all_have_ended(web: FakeWeb, opened: Opened) -> None:
    """No call is left behind."""
    web.answer = WebAnswer(status=400, text=PARSE_ERROR)
    with pytest.raises(UnreachableError, match="refuses first"):
        await opened().ask_all(["first", "second"])
    assert len(web.requests) == 2


async def test_credentials_are_sent_and_never_shown(web: FakeWeb, opened: Opened, tmp_path: Path) -> None:
    """The token is read again at each call; a server that quotes what it was sent is not quoted."""
    token = tmp_path / "token"
    token.write_text("first-token\n")
    server = opened(token_file=token, headers={"X-Tenant": "secret-tenant"})
    await server.ask("up")
    token.write_text("second-token")
    web.answer = WebAnswer(status=502, text="you sent second-token and secret-tenant")
    with pytest.raises(UnreachableError) as caught:
        await server.ask("up")
    assert [request.headers["Authorization"] for request in web.requests] == [
        "Bearer first-token",
        "Bearer second-token",
    ]
    assert web.requests[0].headers["X-Tenant"] == "secret-tenant"
    assert "second-token" not in str(caught.value)
    assert "secret-tenant" not in str(caught.value)


async def test_a_token_that_is_gone_is_a_fault_that_passes(opened: Opened, tmp_path: Path) -> None:
    """Somebody rotates it just now."""
    with pytest.raises(UnreachableError, match="prometheus of cluster lab cannot be asked"):
        await opened(token_file=tmp_path / "none").ask("up")
