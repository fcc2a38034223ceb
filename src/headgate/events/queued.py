"""
A queue and a thread in front of a handler, so that one that is slow, away or hanging holds up nobody but itself.

What holds: an event that is offered until the handler takes responsibility (the saved outbox does that) is delivered at
least once, a crash in between included. One that is offered once is delivered unless the process ends before.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from datetime import timedelta
from heapq import heappop, heappush
from itertools import count
from threading import Condition, Thread

import structlog

from headgate.errors import TransientError
from headgate.events.delivery import PendingError, identity_of
from headgate.model.events import Event, EventType
from headgate.ports import EventHandler

_log = structlog.get_logger(__name__)
_LONGEST_PAUSE_S = 60.0
_REMEMBERED = 10_000


@dataclass(slots=True)
class _Waiting:
    """An event that was taken."""

    event: Event
    identity: str
    since_s: float


@dataclass(slots=True)
class _Lane:
    """The waiting events of one job or cluster, in order; after a failure the first holds up the rest of its lane."""

    waiting: deque[_Waiting] = field(default_factory=deque)
    failures: int = 0


class QueuedEventHandler:
    """
    Takes events at once and delivers them in a thread: those of one job in order, the jobs beside each other.

    The order holds while the queue has room. Safe to call from several threads. Close it to end the thread.
    """

    def __init__(
        self,
        handler: EventHandler,
        *,
        capacity: int = 10_000,
        give_up_after: timedelta = timedelta(days=1),
        pause: timedelta = timedelta(seconds=1),
    ) -> None:
        """
        Stand in front of `handler`; the thread starts with the first event.

        Args:
            handler: is called from one thread only, one event at a time.
            capacity: events that may wait.
            give_up_after: how long a failing delivery is tried again before it is given up, with a line in the log.
            pause: before the first repetition; doubles with each, up to a minute.
        """
        self._handler = handler
        self._capacity = capacity
        self._give_up_s = give_up_after.total_seconds()
        self._pause_s = pause.total_seconds()
        self._changed = Condition()
        self._identities: set[str] = set()
        self._settled: OrderedDict[str, None] = OrderedDict()
        self._lanes: dict[str, _Lane] = {}
        self._due: list[tuple[float, int, str]] = []
        self._turns = count()
        self._thread: Thread | None = None
        self._closing = False

    @property
    def name(self) -> str:
        """The handler behind, as the log calls it."""
        return type(self._handler).__name__

    def handle(self, event: Event, /) -> None:
        """
        Return if the event was delivered meanwhile, else take it. One of `EventType.DEBUG` is for the log alone.

        Raises:
            PendingError: it waits or is under way; offered again, it is delivered no second time.
            TransientError: no more can wait, or the handler is closed: the event was not taken.
        """
        if event.type is EventType.DEBUG:
            return
        identity = identity_of(event)
        with self._changed:
            if identity in self._settled:
                return
            if identity not in self._identities:
                self._take(event, identity)
        message = f"{self.name} is delivering {event.key}"
        raise PendingError(message)

    def wait(self, limit: timedelta) -> bool:
        """Wait until nothing waits any more; tell whether that was so within the limit."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._identities, limit.total_seconds())

    def close(self, limit: timedelta = timedelta(seconds=5)) -> None:
        """Deliver what waits, no longer than the limit; then end, and log how many are left."""
        self.wait(limit)
        with self._changed:
            self._closing = True
            left = len(self._identities)
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(0 if left else limit.total_seconds())
        if left:
            _log.warning("EventsNotDelivered", handler=self.name, count=left, message="the service ends before")

    def _take(self, event: Event, identity: str) -> None:
        if self._closing or len(self._identities) >= self._capacity:
            why = "is closed" if self._closing else f"has {self._capacity} events waiting, no more are taken"
            message = f"{self.name} {why}"
            raise TransientError(message)
        subject, now = str(event.subject), time.monotonic()
        lane = self._lanes.setdefault(subject, _Lane())
        lane.waiting.append(_Waiting(event, identity, now))
        self._identities.add(identity)
        if len(lane.waiting) == 1:
            self._schedule(subject, now)
        if self._thread is None:
            self._thread = Thread(target=self._run, name=f"headgate-{self.name}", daemon=True)
            self._thread.start()

    def _schedule(self, subject: str, due_s: float) -> None:
        heappush(self._due, (due_s, next(self._turns), subject))
        self._changed.notify_all()

    def _run(self) -> None:
        while first := self._next():
            done = self._attempt(first)
            with self._changed:
                self._conclude(first, done=done)

    def _next(self) -> _Waiting | None:
        """Wait for the lane whose turn it is, and give the first of it; None at the end."""
        with self._changed:
            while not self._closing:
                wait_s = self._due[0][0] - time.monotonic() if self._due else None
                if wait_s is not None and wait_s <= 0:
                    return self._lanes[heappop(self._due)[2]].waiting[0]
                self._changed.wait(wait_s)
        return None

    def _attempt(self, waiting: _Waiting) -> bool:
        """Tell whether the event is settled: delivered, or given up."""
        try:
            self._handler.handle(waiting.event)
        except TransientError as error:
            if time.monotonic() - waiting.since_s < self._give_up_s:
                return False
            self._complain(waiting.event, str(error))
        except Exception as error:  # noqa: BLE001 - a handler may be anybody's code, and its thread must not end
            self._complain(waiting.event, f"{type(error).__name__}: {error}")
        return True

    def _complain(self, event: Event, why: str) -> None:
        _log.error("EventNotDelivered", handler=self.name, key=event.key, reason=event.reason.value, message=why)

    def _conclude(self, first: _Waiting, *, done: bool) -> None:
        subject = str(first.event.subject)
        lane = self._lanes[subject]
        if not done:
            pause_s = min(self._pause_s * 2 ** min(lane.failures, 16), _LONGEST_PAUSE_S)
            lane.failures += 1
            self._schedule(subject, time.monotonic() + pause_s)
            return
        lane.waiting.popleft()
        lane.failures = 0
        self._settle(first.identity)
        if lane.waiting:
            self._schedule(subject, time.monotonic())
        else:
            del self._lanes[subject]

    def _settle(self, identity: str) -> None:
        self._identities.discard(identity)
        self._settled[identity] = None
        if len(self._settled) > _REMEMBERED:
            self._settled.popitem(last=False)
        self._changed.notify_all()
