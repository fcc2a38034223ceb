"""Events as lines of Python's own logging: an application has that configured already."""

from __future__ import annotations

import logging

from headgate.model.events import Event, EventType

LOGGER = logging.getLogger("headgate")
"""Everything that the agent says; the application decides where it goes."""


def log_event(event: Event) -> None:
    """Write one line, a warning for `EventType.WARNING`."""
    level = logging.WARNING if event.type is EventType.WARNING else logging.INFO
    LOGGER.log(level, "%s %s: %s", event.reason.value, event.subject, event.message)
