"""A queue in front of a handler."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Event as Signal
from threading import get_ident

import pytest
from structlog.testing import capture_logs

from headgate.errors import RefusedError, TransientError, UnreachableError
from headgate.events.best_effort import BestEffortEventHandler
from headgate.events.delivery import PendingError
from headgate.events.merging import REPETITIONS, MergingEventHandler
from headgate.events.queued import QueuedEventHandler
from headgate.model.events import Event, EventReason, EventType
from headgate.model.identity import JobKey
from headgate.testing.conformance.event_handler import deliver

SALES, ORDERS = JobKey("local", "sales"), JobKey("local", "orders")
SOON, LONG = timedelta(milliseconds=1), timedelta(seconds=10)


def event(key: str, job: JobKey = SALES, *, minute: int = 0, interval: timedelta | None = None) -> Event:
    """Make an event."""
    return Event(
        at=datetime(2025, 6, 1, 12, tzinfo=UTC) + timedelta(minutes=minute),
        type=EventType.NORMAL,
        reason=EventReason.SCALING,
        message="asked",
        key=key,
        subject=job,
        merge_interval=interval,
    )


@dataclass
class Receiver:
    """A handler that can hang, and fails for some events so many times."""

    told: list[Event] = field(default_factory=list)
    offered: list[str] = field(default_factory=list)
    faults: dict[str, list[Exception]] = field(default_factory=dict)
    threads: set[int] = field(default_factory=set)
    open: Signal = field(default_factory=Signal)

    def handle(self, event: Event, /) -> None:
        """Wait while it hangs, then fail or keep the event."""
        self.threads.add(get_ident())
        self.offered.append(event.key)
        assert self.open.wait(10)
        if faults := self.faults.get(event.key):
            raise faults.pop(0)
        self.told.append(event)

    @property
    def keys(self) -> list[str]:
        """What was told, in order."""
        return [event.key for event in self.told]


@pytest.fixture
def receiver() -> Receiver:
    """Give a receiver that answers."""
    receiver = Receiver()
    receiver.open.set()
    return receiver


@pytest.fixture
def queue(receiver: Receiver) -> Iterator[QueuedEventHandler]:
    """Give a queue in front of it."""
    queue = QueuedEventHandler(receiver, capacity=4, pause=SOON)
    yield queue
    receiver.open.set()
    queue.close()


def offer(queue: QueuedEventHandler, *events: Event) -> None:
    """Offer events once, and see that each is taken and not claimed to be delivered."""
    for one in events:
        with pytest.raises(PendingError):
            queue.handle(one)


def test_a_hanging_receiver_holds_nobody_up(queue: QueuedEventHandler, receiver: Receiver) -> None:
    """The caller goes on at once; the receiver is called from another thread."""
    receiver.open.clear()
    offer(queue, event("a"), event("b"))
    assert receiver.told == []
    receiver.open.set()
    assert queue.wait(LONG)
    assert receiver.keys == ["a", "b"]
    assert len(receiver.threads) == 1
    assert get_ident() not in receiver.threads


def test_who_offers_again_hears_what_became_of_it(queue: QueuedEventHandler, receiver: Receiver) -> None:
    """While it waits it is pending, and afterwards done; it is delivered once however often it was offered."""
    receiver.open.clear()
    offer(queue, event("a"), event("a"), event("a"))
    receiver.open.set()
    assert queue.wait(LONG)
    queue.handle(event("a"))
    assert receiver.keys == ["a"]


def test_a_failed_delivery_is_tried_again_before_what_follows(queue: QueuedEventHandler, receiver: Receiver) -> None:
    """The events of a job stay in order."""
    receiver.faults["a"] = [UnreachableError("down"), UnreachableError("down")]
    offer(queue, event("a"), event("b"))
    assert queue.wait(LONG)
    assert receiver.keys == ["a", "b"]
    assert receiver.offered == ["a", "a", "a", "b"]


def test_one_jobs_failure_does_not_hold_up_another(receiver: Receiver) -> None:
    """Each job waits for itself alone."""
    receiver.faults["a"] = [UnreachableError("only this one")]
    queue = QueuedEventHandler(receiver, pause=timedelta(hours=1))
    offer(queue, event("a"), event("b"))
    deliver(queue, event("c", ORDERS))
    assert receiver.keys == ["c"]
    queue.close(SOON)


def test_a_refused_event_is_logged_and_makes_room(queue: QueuedEventHandler, receiver: Receiver) -> None:
    """Trying again would not help, and must not keep the next from being told."""
    receiver.faults["a"] = [RefusedError("not this")]
    with capture_logs() as lines:
        offer(queue, event("a"), event("b"))
        assert queue.wait(LONG)
    queue.handle(event("a"))
    assert receiver.keys == ["b"]
    assert [(line["event"], line["key"], line["message"]) for line in lines] == [
        ("EventNotDelivered", "a", "RefusedError: not this")
    ]


def test_a_bug_in_the_handler_does_not_end_the_thread(queue: QueuedEventHandler, receiver: Receiver) -> None:
    """It costs the one event."""
    receiver.faults["a"] = [KeyError("bug")]
    with capture_logs() as lines:
        offer(queue, event("a"), event("b"))
        assert queue.wait(LONG)
    assert receiver.keys == ["b"]
    assert lines[0]["message"] == "KeyError: 'bug'"


def test_what_fails_for_too_long_is_given_up(receiver: Receiver) -> None:
    """Then the log has it, and no outbox keeps it for ever."""
    receiver.faults["a"] = [UnreachableError("down")] * 1_000
    queue = QueuedEventHandler(receiver, pause=SOON, give_up_after=timedelta(milliseconds=5))
    with capture_logs() as lines:
        offer(queue, event("a"))
        assert queue.wait(LONG)
    queue.handle(event("a"))
    assert receiver.told == []
    assert [(line["event"], line["message"]) for line in lines] == [("EventNotDelivered", "down")]
    queue.close()


def test_a_full_queue_takes_no_more(queue: QueuedEventHandler, receiver: Receiver) -> None:
    """What is not taken is not pending: whoever saved it offers it again, and then it is told."""
    receiver.open.clear()
    offer(queue, *(event(f"k{number}") for number in range(4)))
    with pytest.raises(TransientError, match="4 events waiting") as raised:
        queue.handle(event("late"))
    assert not isinstance(raised.value, PendingError)
    receiver.open.set()
    deliver(queue, event("late"))
    assert receiver.keys[-1] == "late"


def test_closing_delivers_what_waits(receiver: Receiver) -> None:
    """The last words of a service are heard, and nothing is taken after them."""
    queue = QueuedEventHandler(receiver)
    offer(queue, event("a"))
    queue.close()
    assert receiver.keys == ["a"]
    with pytest.raises(TransientError, match="closed"):
        queue.handle(event("b"))


def test_closing_does_not_wait_for_one_that_hangs(receiver: Receiver) -> None:
    """What is left is counted in the log."""
    receiver.open.clear()
    queue = QueuedEventHandler(receiver)
    offer(queue, event("a"), event("b"))
    with capture_logs() as lines:
        queue.close(SOON)
    assert [(line["event"], line["count"]) for line in lines] == [("EventsNotDelivered", 2)]
    receiver.open.set()


def test_events_that_nobody_saved_are_told_without_a_word(queue: QueuedEventHandler, receiver: Receiver) -> None:
    """That one is on its way is no failure."""
    with capture_logs() as lines:
        BestEffortEventHandler(queue).handle(event("a"))
    assert queue.wait(LONG)
    assert receiver.keys == ["a"]
    assert lines == []


def test_repetitions_merge_while_the_first_is_on_its_way(queue: QueuedEventHandler, receiver: Receiver) -> None:
    """A merged event that was offered again is settled by its own delivery, and the count goes to the next one."""
    merging, half_an_hour = MergingEventHandler(queue), timedelta(minutes=30)
    receiver.open.clear()
    first = event("a", interval=half_an_hour)
    for _ in range(2):
        with pytest.raises(PendingError):
            merging.handle(first)
    merging.handle(event("a", minute=1, interval=half_an_hour))
    with pytest.raises(PendingError):
        merging.handle(first)
    receiver.open.set()
    assert queue.wait(LONG)
    merging.handle(first)
    with pytest.raises(PendingError):
        merging.handle(event("a", minute=40, interval=half_an_hour))
    assert queue.wait(LONG)
    assert [told.fields for told in receiver.told] == [{}, {REPETITIONS: 1}]
