"""From options to handlers."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from headgate.errors import ConfigError
from headgate.events.delivery import PendingError
from headgate.events.opening import EventService, Factory, open_events
from headgate.events.reading import read_events
from headgate.model.events import Event, EventReason, EventType
from headgate.options.events import EventOptions, KubernetesEventOptions, SqlEventOptions, WebhookEventOptions
from headgate.stores.connecting import connect
from headgate.testing.conformance.event_handler import deliver
from headgate.testing.fake_receiver import FakeReceiver
from headgate.testing.fakes import RecordingEvents

EVENT = Event(
    at=datetime(2025, 6, 1, 12, tzinfo=UTC),
    type=EventType.NORMAL,
    reason=EventReason.JOB_APPEARED,
    message="it is there",
    key="k",
    subject="local",
)


def opened(options: EventOptions, **plugins: Factory) -> EventService:
    """Open the handlers."""
    return open_events(options, partial(connect, answer_within=timedelta(seconds=1)), plugins)


def test_without_options_events_go_to_the_log() -> None:
    """At once, and as one line."""
    with capture_logs() as lines, closing(opened(EventOptions())) as service:
        service.handler.handle(EVENT)
    assert [line["event"] for line in lines] == ["JobAppeared"]


def test_several_are_told_at_once(tmp_path: Path) -> None:
    """A table, a receiver and somebody's plugin; whatever is old leaves the table on demand."""
    told = RecordingEvents()
    with FakeReceiver() as receiver:
        options = EventOptions(
            handlers=("sql", "webhook", "mine"),
            sql=SqlEventOptions(url=f"sqlite:///{tmp_path}/events.db"),
            webhook=WebhookEventOptions(url=receiver.url),
        )
        with closing(opened(options, mine=lambda: told)) as service:
            deliver(service.handler, EVENT)
            (database,) = service.databases
            assert told.told == [EVENT]
            assert receiver.taken[0].json["key"] == "k"
            assert [row.key for row in read_events(database, since=EVENT.at)] == ["k"]
            service.expire(EVENT.at + timedelta(days=1))
            assert read_events(database, since=EVENT.at) == ()


def test_what_is_for_the_log_alone_is_told_to_nobody_else(tmp_path: Path) -> None:
    """Neither to a table nor to a plugin; there it is a line at level debug."""
    told = RecordingEvents()
    options = EventOptions(handlers=("log", "sql", "mine"), sql=SqlEventOptions(url=f"sqlite:///{tmp_path}/events.db"))
    with capture_logs() as lines, closing(opened(options, mine=lambda: told)) as service:
        service.handler.handle(replace(EVENT, type=EventType.DEBUG))
        deliver(service.handler, replace(EVENT, key="k2"))
        (database,) = service.databases
        assert [event.key for event in told.told] == ["k2"]
        assert [row.key for row in read_events(database, since=EVENT.at)] == ["k2"]
    assert [line["log_level"] for line in lines] == ["debug", "info"]


def test_a_kubernetes_that_is_away_holds_nobody_up(tmp_path: Path) -> None:
    """Its calls are made in a thread; the event waits, and is left when the service ends."""
    options = EventOptions(
        handlers=("log", "kubernetes"),
        kubernetes=KubernetesEventOptions(kubeconfig=str(tmp_path / "absent")),
    )
    with capture_logs() as lines:
        service = opened(options)
        with pytest.raises(PendingError):
            service.handler.handle(EVENT)
        service.close()
    assert lines[0]["event"] == "JobAppeared"
    assert lines[-1]["event"] in {"EventNotDelivered", "EventsNotDelivered"}


def test_an_unknown_name_is_told_with_those_there_are() -> None:
    """All unknown ones at once."""
    with pytest.raises(ConfigError) as raised:
        opened(EventOptions(handlers=("log", "lgo", "pager")), mine=RecordingEvents)
    assert raised.value.faults == (
        "events.handlers: found 'lgo', expected some of log, sql, webhook, kubernetes, mine",
        "events.handlers: found 'pager', expected some of log, sql, webhook, kubernetes, mine",
    )


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("nonsense:secret", "not a database URL"),
        ("nosuchkind://u:secret@h/d", "not a database URL"),
        ("mssql+pymssql://u:secret@h/d", "the database driver pymssql is missing"),
        ("sqlite:///${env:NO_SUCH_PATH}", "environment variable NO_SUCH_PATH is not set"),
    ],
)
def test_a_database_that_cannot_be_named_is_a_fault(url: str, fault: str) -> None:
    """The text itself is not shown."""
    with pytest.raises(ConfigError, match=fault) as raised:
        opened(EventOptions(handlers=("sql",), sql=SqlEventOptions(url=url)))
    assert "u:secret" not in str(raised.value)


def test_a_webhook_needs_an_address() -> None:
    """Chosen without one, it is refused with the options; an address that is none as well."""
    with pytest.raises(ValueError, match=r"webhook\.url is not set"):
        EventOptions(handlers=("webhook",))
    with pytest.raises(ValueError, match="does not begin with http"):
        WebhookEventOptions(url="ftp://host")


def test_a_plain_secret_is_refused_without_showing_it() -> None:
    """It would stand in a file, and be shown with the options."""
    with pytest.raises(ValueError, match="secret is written plainly") as raised:
        WebhookEventOptions(url="http://host", secret="planted")  # noqa: S106 -- nobody's
    assert "planted" not in str(raised.value)
