"""Repetitions of one happening as one event."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from headgate.errors import TransientError
from headgate.events.merging import REPETITIONS, MergingEventHandler
from headgate.model.events import Event, EventReason, EventType
from headgate.testing.fakes import RecordingEvents

HALF_AN_HOUR = timedelta(minutes=30)


def event(minute: float, key: str = "k", merge_interval: timedelta | None = HALF_AN_HOUR) -> Event:
    """Make an event at a minute of the story."""
    return Event(
        at=datetime(2025, 6, 1, tzinfo=UTC) + timedelta(minutes=minute),
        type=EventType.WARNING,
        reason=EventReason.AUTOSCALER_ERROR,
        message="again",
        key=key,
        subject="local",
        merge_interval=merge_interval,
    )


def keys(listener: RecordingEvents) -> list[str]:
    """Name what was told, in order."""
    return [told.key for told in listener.told]


@pytest.fixture
def listener() -> RecordingEvents:
    """Give a handler that was told nothing yet."""
    return RecordingEvents()


@pytest.fixture
def handler(listener: RecordingEvents) -> MergingEventHandler:
    """Give a merging handler in front of the listener."""
    return MergingEventHandler(listener)


def test_repetitions_within_the_interval_are_heard_once(
    handler: MergingEventHandler, listener: RecordingEvents
) -> None:
    """The first goes through at once, the rest of the half hour does not."""
    for minute in (0, 1, 10, 29.9):
        handler.handle(event(minute))
    assert listener.told == [event(0)]
    assert handler.held_back == {"k": 3}


def test_after_the_interval_it_is_heard_again_with_the_count(
    handler: MergingEventHandler, listener: RecordingEvents
) -> None:
    """The interval runs from the delivered event, not from the last repetition."""
    for minute in (0, 10, 20, 30, 60):
        handler.handle(event(minute))
    assert [told.at for told in listener.told] == [event(minute).at for minute in (0, 30, 60)]
    assert [told.fields for told in listener.told] == [{}, {REPETITIONS: 2}, {}]
    assert handler.held_back == {}


def test_other_keys_are_other_happenings(handler: MergingEventHandler, listener: RecordingEvents) -> None:
    """Two jobs with the same trouble are two events."""
    handler.handle(event(0, "a"))
    handler.handle(event(0, "b"))
    assert keys(listener) == ["a", "b"]


def test_without_an_interval_nothing_merges(handler: MergingEventHandler, listener: RecordingEvents) -> None:
    """Each rescale is told, whatever its key."""
    for minute in (0, 0, 1):
        handler.handle(event(minute, merge_interval=None))
    assert keys(listener) == ["k", "k", "k"]


def test_a_second_delivery_is_no_repetition(handler: MergingEventHandler, listener: RecordingEvents) -> None:
    """The same instant is the same happening, offered again after a restart: held back and not counted."""
    handler.handle(event(0))
    handler.handle(event(0))
    assert listener.told == [event(0)]
    assert handler.held_back == {}


def test_time_is_the_events_own(handler: MergingEventHandler, listener: RecordingEvents) -> None:
    """A replay of last year merges as last year's run did, also where events come late."""
    for minute in (100, 90, 60):
        handler.handle(event(minute))
    assert [told.at for told in listener.told] == [event(100).at, event(60).at]


def test_an_event_that_could_not_be_delivered_was_not_seen(
    handler: MergingEventHandler, listener: RecordingEvents
) -> None:
    """Offered again, it goes through."""
    listener.fault = TransientError("away")
    with pytest.raises(TransientError):
        handler.handle(event(0))
    listener.fault = None
    handler.handle(event(0))
    assert listener.told == [event(0)]


def test_a_failed_delivery_keeps_the_count(handler: MergingEventHandler, listener: RecordingEvents) -> None:
    """What was held back before the failure is told with the delivery that succeeds."""
    handler.handle(event(0))
    handler.handle(event(10))
    listener.fault = TransientError("away")
    with pytest.raises(TransientError):
        handler.handle(event(30))
    listener.fault = None
    handler.handle(event(31))
    assert listener.told[-1].fields == {REPETITIONS: 1}


def test_memory_is_bounded_by_the_keys_that_came_last(listener: RecordingEvents) -> None:
    """With room for two keys the third pushes out the one that was quiet for longest."""
    handler = MergingEventHandler(listener, capacity=2)
    for minute, key in enumerate("abacab"):
        handler.handle(event(minute, key))
    assert keys(listener) == ["a", "b", "c", "b"]
