"""Events as lines of the structured log."""

from __future__ import annotations

import structlog
from structlog.typing import FilteringBoundLogger

from headgate.model.events import Event, EventType
from headgate.model.identity import JobKey


class LogEventHandler:
    """Writes each event as one log line, at the level that its type says, with the event's fields bound."""

    def __init__(self, logger: FilteringBoundLogger | None = None) -> None:
        """Log to `logger`, or as structlog is configured."""
        self._logger: FilteringBoundLogger = logger or structlog.get_logger("headgate.events")

    def handle(self, event: Event, /) -> None:
        """Write the line; the event's own names win over fields that are called alike."""
        subject = "job" if isinstance(event.subject, JobKey) else "cluster"
        own = {
            "message": event.message,
            "at": event.at.isoformat(),
            "key": event.key,
            subject: str(event.subject),
        }
        line = self._logger.bind(**{**event.fields, **own})
        write = {EventType.DEBUG: line.debug, EventType.WARNING: line.warning}.get(event.type, line.info)
        write(event.reason.value)
