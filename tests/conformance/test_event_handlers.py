"""The event handlers that come with Headgate keep the contract, alone and behind their decorators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import structlog
from structlog.testing import CapturingLogger

from headgate.config.secrets import Secret
from headgate.events.database import EventDatabase
from headgate.events.delivery import identity_of
from headgate.events.fanout import FanoutEventHandler
from headgate.events.log import LogEventHandler
from headgate.events.merging import MergingEventHandler
from headgate.events.queued import QueuedEventHandler
from headgate.events.reading import read_events
from headgate.events.sql import SqlEventHandler
from headgate.events.tables import metadata
from headgate.events.webhook import Receiver, WebhookEventHandler
from headgate.ports import EventHandler
from headgate.stores.connecting import connect
from headgate.testing.conformance.event_handler import EventHandlerSuite, Heard, RemoteEventHandlerSuite
from headgate.testing.fake_receiver import FakeReceiver
from headgate.testing.fakes import RecordingEvents

_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
_SOON = timedelta(milliseconds=20)


def _nothing() -> None:
    """Stand for what a stage cannot do."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A handler, who hears it, and what can happen to the receiver."""

    handler: EventHandler
    hear: Callable[[], Sequence[Heard]]
    go_silent: Callable[[], None] = _nothing
    come_back: Callable[[], None] = _nothing

    def heard(self) -> Sequence[Heard]:
        """Give what has arrived."""
        return self.hear()


def posted(receiver: FakeReceiver) -> list[Heard]:
    """Give what a receiver has taken."""
    return [
        Heard(
            key=one.json["key"],
            reason=one.json["reason"],
            subject=one.json.get("job") or one.json["cluster"],
            message=one.json["message"],
            identity=one.headers["idempotency-key"],
        )
        for one in receiver.taken
    ]


def kept(database: EventDatabase) -> list[Heard]:
    """Give what a table holds."""
    rows = read_events(database, since=_LONG_AGO)
    return [Heard(key=row.key, reason=row.reason, subject=row.subject, message=row.message) for row in rows]


def recorded(listener: RecordingEvents) -> list[Heard]:
    """Give what a listener was told."""
    return [
        Heard(
            key=one.key,
            reason=one.reason.value,
            subject=str(one.subject),
            message=one.message,
            identity=identity_of(one),
        )
        for one in listener.told
    ]


@pytest.fixture
def webhook(receiver: FakeReceiver) -> Iterator[WebhookEventHandler]:
    """Give a handler that does not wait for long."""
    with closing(WebhookEventHandler(Receiver(url=Secret(receiver.url), time_limit=timedelta(seconds=2)))) as opened:
        yield opened


@pytest.fixture
def receiver() -> Iterator[FakeReceiver]:
    """Give a receiver that answers."""
    with FakeReceiver() as server:
        yield server


@pytest.fixture
def database(tmp_path: Path) -> Iterator[EventDatabase]:
    """Give a database that is not there yet."""
    with closing(_database(f"sqlite:///{tmp_path}/events.db")) as opened:
        yield opened


def _database(url: str) -> EventDatabase:
    return EventDatabase(connect(url, timedelta(seconds=5)))


def _emptied(url: str) -> Iterator[Stage]:
    engine = connect(url, timedelta(seconds=5))
    metadata.drop_all(engine)
    engine.dispose()
    with closing(_database(url)) as database:
        yield Stage(handler=SqlEventHandler(database), hear=lambda: kept(database))


class TestLogEventHandler(EventHandlerSuite):
    """Lines of the log."""

    @pytest.fixture
    def stage(self) -> Stage:
        """Give a handler whose lines are kept."""
        output = CapturingLogger()
        logger = structlog.wrap_logger(output, processors=[lambda _, __, line: ((), line)])

        def hear() -> list[Heard]:
            lines = [call.kwargs for call in output.calls]
            return [
                Heard(
                    key=line["key"],
                    reason=line["event"],
                    subject=line.get("job") or line["cluster"],
                    message=line["message"],
                )
                for line in lines
            ]

        return Stage(handler=LogEventHandler(logger), hear=hear)


class TestSqlEventHandler(RemoteEventHandlerSuite):
    """A table in an SQLite file, in a directory that may be missing."""

    @pytest.fixture
    def stage(self, database: EventDatabase, tmp_path: Path) -> Stage:
        """Give a handler with an empty table."""
        away = tmp_path.with_name(f"{tmp_path.name}-away")

        def go_silent() -> None:
            database.close()
            tmp_path.rename(away)

        def come_back() -> None:
            away.rename(tmp_path)

        def hear() -> list[Heard]:
            return kept(database) if tmp_path.exists() else []

        return Stage(handler=SqlEventHandler(database), hear=hear, go_silent=go_silent, come_back=come_back)


class TestSqlEventHandlerOnPostgresql(EventHandlerSuite):
    """A table in PostgreSQL."""

    @pytest.fixture
    def stage(self, postgresql_url: str) -> Iterator[Stage]:
        """Give a handler with an empty table."""
        yield from _emptied(postgresql_url)


class TestSqlEventHandlerOnMysql(EventHandlerSuite):
    """A table in MySQL or MariaDB."""

    @pytest.fixture
    def stage(self, mysql_url: str) -> Iterator[Stage]:
        """Give a handler with an empty table."""
        yield from _emptied(mysql_url)


class TestWebhookEventHandler(RemoteEventHandlerSuite):
    """A receiver that answers with 500 while it is away."""

    @pytest.fixture
    def stage(self, receiver: FakeReceiver, webhook: WebhookEventHandler) -> Stage:
        """Give a handler in front of a receiver."""

        def go_silent() -> None:
            receiver.status = 500

        return Stage(handler=webhook, hear=lambda: posted(receiver), go_silent=go_silent, come_back=receiver.recover)


class TestQueuedWebhook(RemoteEventHandlerSuite):
    """A receiver that hangs while it is away, behind a queue."""

    @pytest.fixture
    def stage(self, receiver: FakeReceiver, webhook: WebhookEventHandler) -> Iterator[Stage]:
        """Give a queue in front of a webhook."""
        handler = QueuedEventHandler(webhook, pause=_SOON)
        yield Stage(handler=handler, hear=lambda: posted(receiver), go_silent=receiver.hang, come_back=receiver.recover)
        receiver.recover()
        handler.close(timedelta(seconds=3))


class TestQueuedRefusedWebhook(RemoteEventHandlerSuite):
    """A receiver that refuses connections while it is away, behind a queue."""

    @pytest.fixture
    def stage(self, receiver: FakeReceiver, webhook: WebhookEventHandler) -> Iterator[Stage]:
        """Give a queue in front of a webhook."""
        handler = QueuedEventHandler(webhook, pause=_SOON)
        yield Stage(
            handler=handler, hear=lambda: posted(receiver), go_silent=receiver.go_away, come_back=receiver.come_back
        )
        handler.close(timedelta(seconds=3))


class TestMergingEventHandler(EventHandlerSuite):
    """Merging in front of a queue: what does not repeat passes."""

    @pytest.fixture
    def stage(self) -> Iterator[Stage]:
        """Give the decorators over a listener."""
        listener = RecordingEvents()
        queued = QueuedEventHandler(listener, pause=_SOON)
        yield Stage(handler=MergingEventHandler(queued), hear=lambda: recorded(listener))
        queued.close()


class TestFanoutEventHandler(RemoteEventHandlerSuite):
    """Three handlers at once; the one whose receiver may be away is listened to."""

    @pytest.fixture
    def stage(self, receiver: FakeReceiver, database: EventDatabase, webhook: WebhookEventHandler) -> Iterator[Stage]:
        """Give a fan-out over a listener, a table and a webhook."""
        queued = [
            QueuedEventHandler(SqlEventHandler(database), pause=_SOON),
            QueuedEventHandler(webhook, pause=_SOON),
        ]
        handler = FanoutEventHandler([RecordingEvents(), *queued])
        yield Stage(
            handler=handler, hear=lambda: posted(receiver), go_silent=receiver.go_away, come_back=receiver.come_back
        )
        for one in queued:
            one.close()
