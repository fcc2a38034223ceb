"""One event to several handlers, each on its own."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

import structlog

from headgate.errors import TransientError
from headgate.events.delivery import PendingError, identity_of
from headgate.model.events import Event
from headgate.ports import EventHandler

_log = structlog.get_logger(__name__)


class FanoutEventHandler:
    """
    Hands each event to every handler; one that fails does not keep it from the others.

    Offered again, an event goes to those alone that have not had it yet. That is remembered for the `capacity` events
    that failed last, and not over a restart: a handler hears an event once more at most for each of them.
    """

    def __init__(self, handlers: Sequence[EventHandler], *, capacity: int = 10_000) -> None:
        """Deliver in this order."""
        self._handlers = tuple(handlers)
        self._capacity = capacity
        self._lock = Lock()
        self._missing: OrderedDict[str, tuple[int, ...]] = OrderedDict()
        """By identity, the places of the handlers that an event has not reached."""

    def handle(self, event: Event, /) -> None:
        """
        Deliver to all handlers that have not had the event.

        A handler that fails otherwise than transiently is reported in the log and not offered the event again: its
        fault would keep the event in every outbox for ever.

        Raises:
            PendingError: all have taken it, and at least one is still delivering.
            TransientError: at least one could not take it now; it is offered the event again.
        """
        identity = identity_of(event)
        with self._lock:
            missing = self._missing.get(identity, tuple(range(len(self._handlers))))
        failures = {place: error for place in missing if (error := _failure(self._handlers[place], event))}
        self._remember(identity, tuple(failures))
        if failures:
            raise _together(list(failures.values()))

    def _remember(self, identity: str, missing: tuple[int, ...]) -> None:
        with self._lock:
            self._missing.pop(identity, None)
            if missing:
                self._missing[identity] = missing
            if len(self._missing) > self._capacity:
                self._missing.popitem(last=False)


def _together(errors: Sequence[TransientError]) -> TransientError:
    pending = all(isinstance(error, PendingError) for error in errors)
    together = (PendingError if pending else TransientError)("; ".join(map(str, errors)))
    together.__cause__ = errors[0]
    return together


def _failure(handler: EventHandler, event: Event) -> TransientError | None:
    try:
        handler.handle(event)
    except TransientError as error:
        return error
    except Exception:  # noqa: BLE001 - a handler may be anybody's code
        name = type(handler).__name__
        _log.error("EventHandlerFailed", handler=name, key=event.key, reason=event.reason.value, exc_info=True)
    return None
