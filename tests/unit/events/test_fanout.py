"""One event to several handlers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from structlog.testing import capture_logs

from headgate.errors import TransientError, UnreachableError
from headgate.events.delivery import PendingError
from headgate.events.fanout import FanoutEventHandler
from headgate.model.events import Event, EventReason, EventType
from headgate.testing.fakes import RecordingEvents

EVENT = Event(
    at=datetime(2025, 6, 1, 12, tzinfo=UTC),
    type=EventType.NORMAL,
    reason=EventReason.JOB_APPEARED,
    message="it is there",
    key="k",
    subject="local",
)


@pytest.fixture
def listener() -> RecordingEvents:
    """Give a handler that was told nothing yet."""
    return RecordingEvents()


@pytest.fixture
def neighbour() -> RecordingEvents:
    """Give another one."""
    return RecordingEvents()


def test_everybody_hears_it(listener: RecordingEvents, neighbour: RecordingEvents) -> None:
    """Each handler gets the event."""
    FanoutEventHandler([listener, neighbour]).handle(EVENT)
    assert listener.told == neighbour.told == [EVENT]


def test_one_that_cannot_deliver_now_does_not_stop_the_others(
    listener: RecordingEvents, neighbour: RecordingEvents
) -> None:
    """The neighbour hears it, and the caller knows that it must offer the event again."""
    listener.fault = UnreachableError("webhook is away")
    handler = FanoutEventHandler([listener, neighbour])
    with pytest.raises(TransientError, match="webhook is away"):
        handler.handle(EVENT)
    assert neighbour.told == [EVENT]
    listener.fault = None
    handler.handle(EVENT)
    assert listener.told == [EVENT]


def test_all_that_failed_are_named(listener: RecordingEvents, neighbour: RecordingEvents) -> None:
    """Two handlers that could not deliver are one error with both causes."""
    listener.fault = TransientError("first")
    neighbour.fault = TransientError("second")
    with pytest.raises(TransientError, match="first; second"):
        FanoutEventHandler([listener, neighbour]).handle(EVENT)


class Broken:
    """A handler with a bug."""

    def handle(self, event: Event, /) -> None:
        """Fail in a way that no handler should."""
        raise KeyError(event.key)


def test_a_broken_handler_is_reported_and_not_offered_the_event_again(neighbour: RecordingEvents) -> None:
    """A bug in one handler neither reaches the cycle nor keeps the event in the outbox."""
    with capture_logs() as lines:
        FanoutEventHandler([Broken(), neighbour]).handle(EVENT)
    assert neighbour.told == [EVENT]
    (line,) = lines
    assert (line["event"], line["handler"], line["key"]) == ("EventHandlerFailed", "Broken", "k")


def test_offered_again_it_goes_to_those_alone_that_have_not_had_it(
    listener: RecordingEvents, neighbour: RecordingEvents
) -> None:
    """However long one is away, the other hears the event once."""
    listener.fault = UnreachableError("webhook is away")
    handler = FanoutEventHandler([listener, neighbour])
    for _ in range(3):
        with pytest.raises(TransientError):
            handler.handle(EVENT)
    listener.fault = None
    handler.handle(EVENT)
    assert listener.told == neighbour.told == [EVENT]


def test_what_reached_everybody_is_forgotten(listener: RecordingEvents, neighbour: RecordingEvents) -> None:
    """Told again, it is told to all: whoever merges stands in front of or behind the fan-out."""
    handler = FanoutEventHandler([listener, neighbour])
    handler.handle(EVENT)
    handler.handle(EVENT)
    assert len(listener.told) == len(neighbour.told) == 2


def test_memory_is_bounded_by_the_events_that_failed_last(
    listener: RecordingEvents, neighbour: RecordingEvents
) -> None:
    """With room for one event the older of two is told again to everybody, no more."""
    listener.fault = UnreachableError("away")
    handler = FanoutEventHandler([listener, neighbour], capacity=1)
    for key in ("a", "b", "a", "b"):
        with pytest.raises(TransientError):
            handler.handle(replace(EVENT, key=key))
    assert [told.key for told in neighbour.told] == ["a", "b", "a", "b"]


@pytest.mark.parametrize(("fault", "pending"), [(PendingError("on its way"), True), (UnreachableError("away"), False)])
def test_it_is_pending_while_nobody_has_failed(
    listener: RecordingEvents, neighbour: RecordingEvents, fault: TransientError, *, pending: bool
) -> None:
    """One that delivers later is no failure; beside one that failed it is."""
    listener.fault, neighbour.fault = PendingError("on its way"), fault
    with pytest.raises(TransientError) as raised:
        FanoutEventHandler([listener, neighbour]).handle(EVENT)
    assert isinstance(raised.value, PendingError) is pending
