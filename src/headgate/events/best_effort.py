"""Events that belong to no saved state: told once, and if that fails, logged. They must not stop what they tell of."""

from __future__ import annotations

from contextlib import suppress

import structlog

from headgate.events.delivery import PendingError
from headgate.model.events import Event
from headgate.ports import EventHandler

_log = structlog.get_logger(__name__)


class BestEffortEventHandler:
    """Hands events on and never raises, not even when the log itself cannot be written."""

    def __init__(self, handler: EventHandler) -> None:
        """Stand in front of `handler`."""
        self._handler = handler

    def handle(self, event: Event, /) -> None:
        """Deliver the event, or log that it could not be."""
        try:
            self._handler.handle(event)
        except PendingError:
            return  # taken; whoever delivers it logs a failure
        except Exception as error:  # noqa: BLE001 - a handler may be anybody's code, and a disk may be full
            with suppress(OSError):
                _log.warning("EventNotDelivered", key=event.key, reason=event.reason.value, message=str(error))
