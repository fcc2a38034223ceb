"""One event to several handlers, each on its own."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from headgate.errors import TransientError
from headgate.model.events import Event
from headgate.ports import EventHandler

_log = structlog.get_logger(__name__)


class FanoutEventHandler:
    """Hands each event to every handler; one that fails does not keep it from the others."""

    def __init__(self, handlers: Sequence[EventHandler]) -> None:
        """Deliver in this order."""
        self._handlers = tuple(handlers)

    def handle(self, event: Event, /) -> None:
        """
        Deliver to all handlers.

        A handler that fails otherwise than transiently is reported in the log and not offered the event again: its
        fault would keep the event in every outbox for ever.

        Raises:
            TransientError: at least one could not deliver now; all of them are offered the event again.
        """
        missed = [error for handler in self._handlers if (error := _failure(handler, event))]
        if missed:
            message = "; ".join(str(error) for error in missed)
            raise TransientError(message) from missed[0]


def _failure(handler: EventHandler, event: Event) -> TransientError | None:
    try:
        handler.handle(event)
    except TransientError as error:
        return error
    except Exception:  # noqa: BLE001 - a handler may be anybody's code
        name = type(handler).__name__
        _log.error("EventHandlerFailed", handler=name, key=event.key, reason=event.reason.value, exc_info=True)
    return None
