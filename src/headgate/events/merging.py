"""Repetitions of one happening as one event."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Lock

from headgate.events.delivery import PendingError
from headgate.model.events import Event
from headgate.ports import EventHandler

REPETITIONS = "repetitions"
"""Field of a delivered event: how many with its key were held back since the one delivered before."""


@dataclass(frozen=True, slots=True)
class _Delivered:
    """When the last event of a key went through, how many were held back since, and whether it is still under way."""

    at: datetime
    held_back: int = 0
    pending: bool = False

    def is_repeated_by(self, event: Event, interval: timedelta) -> bool:
        """Tell whether an event is to be held back: who asks what became of a pending one is no repetition."""
        if self.pending and event.at == self.at:
            return False
        return abs(event.at - self.at) < interval


class MergingEventHandler:
    """
    Lets one event of a key through in each `merge_interval` and counts the rest.

    Time is the event's own `at`, so that a replay merges as the live run did. What was delivered is remembered for
    the `capacity` keys that came last, in this process and not over a restart: a key is heard once more after each, and
    once from each of several processes. Where that is too often, the handler behind merges by itself, as `sql` does.
    Safe to call from several threads.
    """

    def __init__(self, handler: EventHandler, *, capacity: int = 10_000) -> None:
        """Stand in front of `handler`."""
        self._handler = handler
        self._capacity = capacity
        self._lock = Lock()
        self._delivered: OrderedDict[str, _Delivered] = OrderedDict()

    @property
    def held_back(self) -> Mapping[str, int]:
        """Events held back since the last one delivered, by key; keys without any are left out."""
        with self._lock:
            return {key: seen.held_back for key, seen in self._delivered.items() if seen.held_back}

    def handle(self, event: Event, /) -> None:
        """
        Deliver the event unless it repeats one delivered less than its `merge_interval` before.

        An event that could not be delivered counts as never seen, one that is being delivered as seen.

        Raises:
            TransientError: from the handler behind.
        """
        if event.merge_interval is None:
            self._handler.handle(event)
            return
        with self._lock:
            before = self._delivered.get(event.key)
            passes = before is None or not before.is_repeated_by(event, event.merge_interval)
            self._remember(event, before, passes=passes)
        if passes:
            self._deliver(event, before)

    def _remember(self, event: Event, before: _Delivered | None, *, passes: bool) -> None:
        if before is None or (passes and event.at != before.at):
            self._delivered[event.key] = _Delivered(event.at)
        elif event.at != before.at:  # the same instant is a second delivery, not a repetition
            self._delivered[event.key] = replace(before, held_back=before.held_back + 1)
        self._delivered.move_to_end(event.key)
        if len(self._delivered) > self._capacity:
            self._delivered.popitem(last=False)

    def _deliver(self, event: Event, before: _Delivered | None) -> None:
        held_back = before.held_back if before and before.at != event.at else 0
        counted = replace(event, fields={**event.fields, REPETITIONS: held_back}) if held_back else event
        try:
            self._handler.handle(counted)
        except PendingError:
            self._mark(event, pending=True)
            raise
        except BaseException:
            self._restore(event.key, before)
            raise
        self._mark(event, pending=False)

    def _mark(self, event: Event, *, pending: bool) -> None:
        with self._lock:
            seen = self._delivered.get(event.key)
            if seen is not None and seen.at == event.at and seen.pending is not pending:
                self._delivered[event.key] = replace(seen, pending=pending)

    def _restore(self, key: str, before: _Delivered | None) -> None:
        with self._lock:
            if before is None:
                self._delivered.pop(key, None)
            else:
                self._delivered[key] = before
