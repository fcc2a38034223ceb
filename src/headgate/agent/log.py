"""Events as lines of Python's own logging: an application has that configured already."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from headgate.engines.spark.attached.restart import Restarted
from headgate.model.events import Event, EventType

LOGGER = logging.getLogger("headgate")
"""Everything that the agent says; the application decides where it goes."""

_LEVELS = {EventType.DEBUG: logging.DEBUG, EventType.NORMAL: logging.INFO, EventType.WARNING: logging.WARNING}


def log_event(event: Event) -> None:
    """Write one line, at the level that the event's type says."""
    LOGGER.log(_LEVELS[event.type], "%s %s: %s", event.reason.value, event.subject, event.message)


def log_restart(restarted: Restarted) -> None:
    """Say what became of a query that was started anew; one that does not run any more is an error."""
    if not restarted.failure:
        LOGGER.info("query %s was started anew with %s", restarted.query, restarted.settings.text)
        return
    level = logging.WARNING if restarted.runs or restarted.by_itself else logging.ERROR
    state = f"it runs with {restarted.settings.text}" if restarted.runs else "it does not run now"
    LOGGER.log(level, "query %s: %s; %s", restarted.query, restarted.failure, state)


def log_leftovers(query: str, paths: Sequence[str]) -> None:
    """Warn of what lies beside a query's checkpoint: the query may have begun anew, without its state."""
    for path in paths:
        LOGGER.warning(
            "query %s: %s is left from a repartition that did not end. Hint: see whether the query has its state and "
            "its offsets, then delete it; else stop the query and put it in the checkpoint's place",
            query,
            path,
        )
