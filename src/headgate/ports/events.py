"""Telling."""

from __future__ import annotations

from typing import Protocol

from headgate.model.events import Event


class EventHandler(Protocol):
    """Tells somebody."""

    def handle(self, event: Event, /) -> None:
        """
        Deliver one event; the same `key` may come again and must do no harm.

        Raises:
            TransientError: not delivered; it will be offered again.
        """
