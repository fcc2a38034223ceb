"""What a handler tells of one delivery: which it is, whether it is under way, and the event as JSON."""

from __future__ import annotations

import hashlib
from typing import Any

from headgate.errors import TransientError
from headgate.model.events import Event
from headgate.model.identity import JobKey
from headgate.model.instants import epoch_us


class PendingError(TransientError):
    """Taken, and being delivered; offered again, the handler says what became of it."""


def identity_of(event: Event) -> str:
    """
    Give the same 32 characters each time the same happening is offered, in every process.

    A repetition has the event's key and another instant, and so another identity.
    """
    words = f"{event.subject}\n{event.reason}\n{event.key}\n{epoch_us(event.at)}"
    return hashlib.sha256(words.encode()).hexdigest()[:32]


def json_of(event: Event) -> bytes:
    """Write the event as one JSON object; what JSON has no number for is written as text, `"Infinity"`."""
    subject = "job" if isinstance(event.subject, JobKey) else "cluster"
    said = {
        "id": identity_of(event),
        "at": event.at.isoformat(),
        "type": event.type.value,
        "reason": event.reason.value,
        subject: str(event.subject),
        "message": event.message,
        "key": event.key,
        "fields": dict(event.fields),
    }
    return _json(said)


def fields_json(event: Event) -> str:
    """Write the fields alone, under the same rules."""
    return _json(dict(event.fields)).decode()


def _json(said: dict[str, Any]) -> bytes:
    from pydantic_core import to_json  # noqa: PLC0415 - an attached agent merges events, and has no such library

    return to_json(said, inf_nan_mode="strings")
