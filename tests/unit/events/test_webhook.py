"""Events over HTTP."""

from __future__ import annotations

import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headgate.errors import ConfigError, RefusedError, UnreachableError
from headgate.events.signature import sign, verify
from headgate.events.webhook import Receiver, WebhookEventHandler
from headgate.model.events import Event, EventReason, EventType
from headgate.model.identity import JobKey
from headgate.options.events import WebhookEventOptions
from headgate.testing.fake_receiver import FakeReceiver

EVENT = Event(
    at=datetime(2025, 6, 1, 12, tzinfo=UTC),
    type=EventType.NORMAL,
    reason=EventReason.SCALING_REPORT,
    message="map: 2 to 4",
    key="d1",
    subject=JobKey("local", "sales"),
    fields={"wanted": 4, "rate": float("inf")},
)


Handler = Callable[..., WebhookEventHandler]
"""Makes a handler that posts to a receiver, with options."""


@pytest.fixture
def server() -> Iterator[FakeReceiver]:
    """Give a receiver that answers."""
    with FakeReceiver() as server:
        yield server


@pytest.fixture
def handler() -> Iterator[Handler]:
    """Close what was made."""
    with ExitStack() as opened:

        def make(server: FakeReceiver, **options: object) -> WebhookEventHandler:
            usual = {"url": server.url, "time_limit": timedelta(seconds=2)}
            chosen = WebhookEventOptions(**{**usual, **options})  # type: ignore[arg-type]
            return opened.enter_context(closing(WebhookEventHandler(Receiver.of(chosen))))

        yield make


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a certificate of this machine that nobody has signed, with its key in one file."""
    file = tmp_path_factory.mktemp("tls") / "receiver.pem"
    key, subject = (
        ("-newkey", "rsa:2048", "-nodes"),
        ("-subj", "/CN=receiver", "-addext", "subjectAltName=IP:127.0.0.1"),
    )
    make = ["openssl", "req", "-x509", *key, "-keyout", str(file), "-out", str(file.with_suffix(".crt")), *subject]
    subprocess.run(make, check=True, capture_output=True)
    file.write_text(file.read_text() + file.with_suffix(".crt").read_text())
    return file


@pytest.fixture
def secure(certificate: Path) -> Iterator[FakeReceiver]:
    """Give a receiver that answers over TLS."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    with FakeReceiver(tls=context) as server:
        yield server


def test_an_event_is_one_json_object(server: FakeReceiver, handler: Handler) -> None:
    """With everything it says; what JSON has no number for is a text."""
    handler(server).handle(EVENT)
    (posted,) = server.taken
    assert posted.headers["content-type"] == "application/json"
    assert posted.json == {
        "id": posted.headers["idempotency-key"],
        "at": "2025-06-01T12:00:00+00:00",
        "type": "Normal",
        "reason": "ScalingReport",
        "job": "local/sales",
        "message": "map: 2 to 4",
        "key": "d1",
        "fields": {"wanted": 4, "rate": "Infinity"},
    }


def test_a_receiver_can_tell_who_sent_it(
    server: FakeReceiver, monkeypatch: pytest.MonkeyPatch, handler: Handler
) -> None:
    """The signature fits the body as it came, the secret and the hour, and nothing else."""
    monkeypatch.setenv("HOOK_SECRET", "s3cret")
    handler(server, secret="${env:HOOK_SECRET}").handle(EVENT)  # noqa: S106 -- a reference
    (posted,) = server.taken
    value, now = posted.headers["headgate-signature"], int(time.time())
    assert verify(posted.body, "s3cret", value, now_s=now)
    assert not verify(posted.body + b" ", "s3cret", value, now_s=now)
    assert not verify(posted.body, "other", value, now_s=now)
    assert not verify(posted.body, "s3cret", value, now_s=now + 3_600)


@pytest.mark.parametrize("value", ["", "t=,v1=", "v1=ab", "t=-1,v1=ab", "t=1700000000", "nonsense", "t=x,v1=é"])
def test_what_is_no_signature_verifies_nothing(value: str) -> None:
    """Whatever somebody sends, it is an answer and no error."""
    assert not verify(b"{}", "s3cret", value, now_s=1_700_000_000)


def test_the_signature_is_the_documented_one() -> None:
    """Any HMAC-SHA256 over `seconds.body` gives it: receivers are written in every language."""
    # printf '1700000000.{}' | openssl dgst -sha256 -hmac s3cret
    known = "t=1700000000,v1=97926816e98fbb41ccb1673225ff29a2f35369099990e1b1561651e7bd097ebf"
    assert sign(b"{}", "s3cret", 1_700_000_000) == known


def test_headers_of_ones_own_are_sent(
    server: FakeReceiver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, handler: Handler
) -> None:
    """Also secret ones, resolved; they cannot replace what Headgate says."""
    (tmp_path / "token").write_text("t0ken\n")
    monkeypatch.setenv("HOOK_URL", server.url)
    headers = {"Authorization": f"Bearer ${{file:{tmp_path}/token}}", "Idempotency-Key": "mine"}
    handler(server, url="${env:HOOK_URL}", headers=headers).handle(EVENT)
    assert server.taken[0].headers["authorization"] == "Bearer t0ken"
    assert server.taken[0].headers["idempotency-key"] == server.taken[0].json["id"]


def test_a_passing_failure_is_tried_again_under_one_key(server: FakeReceiver, handler: Handler) -> None:
    """Three times at most; then it is for a later delivery."""
    server.status = 503
    with pytest.raises(UnreachableError, match="status 503"):
        handler(server).handle(EVENT)
    assert len(server.posted) == 3
    assert len({posted.headers["idempotency-key"] for posted in server.posted}) == 1


@pytest.mark.parametrize("status", [400, 410, 413, 422])
def test_a_receiver_may_refuse_an_event(server: FakeReceiver, status: int, handler: Handler) -> None:
    """What is said of the event itself does not change by saying it again."""
    server.status = status
    with pytest.raises(RefusedError, match=f"status {status}"):
        handler(server).handle(EVENT)
    assert len(server.posted) == 1


@pytest.mark.parametrize("status", [302, 401, 404, 429])
def test_what_an_operator_can_mend_is_no_refusal(server: FakeReceiver, status: int, handler: Handler) -> None:
    """A wrong token or path must not cost events; a redirection is not followed, the signature is not for others."""
    server.status = status
    with pytest.raises(UnreachableError, match=f"status {status}"):
        handler(server).handle(EVENT)


def test_events_share_a_connection(server: FakeReceiver, handler: Handler) -> None:
    """Of which another one takes the place when the receiver was away."""
    hook = handler(server)
    for _ in range(3):
        hook.handle(EVENT)
    assert (len(server.taken), server.connections) == (3, 1)
    server.go_away()
    with pytest.raises(UnreachableError, match=r"no connection to 127\.0\.0\.1"):
        hook.handle(EVENT)
    server.come_back()
    hook.handle(EVENT)
    assert (len(server.taken), server.connections) == (4, 2)


def test_a_closed_webhook_holds_up_nobody(server: FakeReceiver, handler: Handler) -> None:
    """Whoever waits for a receiver that hangs is told."""
    hook = handler(server, time_limit=timedelta(minutes=1))
    server.hang()
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(hook.handle, EVENT)
        assert server.was_asked.wait(5)
        hook.close()
        with pytest.raises(UnreachableError, match="the webhook is closed"):
            waiting.result()


def test_a_certificate_that_nobody_has_signed_is_trusted_when_it_is_named(
    secure: FakeReceiver, handler: Handler, certificate: Path
) -> None:
    """As a company's own authority is; otherwise nothing is sent."""
    with pytest.raises(UnreachableError, match="certificate verify failed"):
        handler(secure).handle(EVENT)
    assert not secure.posted
    handler(secure, ca_file=certificate.with_suffix(".crt")).handle(EVENT)
    assert len(secure.taken) == 1


def test_a_certificate_that_is_none_is_a_fault_of_the_configuration(tmp_path: Path) -> None:
    """The text names the file."""
    for content in (None, "no certificate"):
        file = tmp_path / "ca.pem"
        if content is not None:
            file.write_text(content)
        with pytest.raises(ConfigError, match=r"events\.webhook: certificates cannot be read from .*ca\.pem"):
            Receiver.of(WebhookEventOptions(url="https://hook.example", ca_file=file))


def test_a_hanging_receiver_costs_the_time_limit(server: FakeReceiver, handler: Handler) -> None:
    """All of the delivery, with its repetitions."""
    server.hang()
    began = time.monotonic()
    with pytest.raises(UnreachableError, match=r"did not answer within 0\.2 s"):
        handler(server, time_limit=timedelta(seconds=0.2)).handle(EVENT)
    assert time.monotonic() - began < 2


def test_nobody_listening_is_told_without_the_secret_address(server: FakeReceiver, handler: Handler) -> None:
    """The text names no more of the URL than its host."""
    server.go_away()
    with pytest.raises(UnreachableError, match="cannot be reached") as raised:
        handler(server, url=server.url + "?token=verysecret").handle(EVENT)
    assert "verysecret" not in str(raised.value)
    assert raised.value.__cause__ is None
    server.come_back()


def test_a_secret_that_is_not_there_is_a_fault_of_the_configuration() -> None:
    """Found when the handler is made, not with the first event."""
    with pytest.raises(ConfigError, match=r"events\.webhook: environment variable NO_SUCH_HOOK is not set"):
        Receiver.of(WebhookEventOptions(url="${env:NO_SUCH_HOOK}"))
    with pytest.raises(ConfigError, match=r"events\.webhook\.url is not set"):
        Receiver.of(WebhookEventOptions())
