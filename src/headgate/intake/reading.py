"""What an agent sends, read back into Headgate's values: checked as a whole, for whoever sends it may be anybody."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import TypeAdapter

from headgate.errors import RefusedError
from headgate.model.decision import Decision
from headgate.model.events import Event
from headgate.model.samples import JobSample
from headgate.samplelog.messages import first_fault, measured

VERSION = 1
"""Of the reports that are understood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one agent has seen and done since the report before."""

    version: int
    samples: tuple[JobSample, ...] = ()
    decisions: tuple[Decision, ...] = ()
    events: tuple[Event, ...] = ()


_REPORT = TypeAdapter(Report)


def read_report(body: bytes) -> Report:
    """
    Read a report.

    Raises:
        RefusedError: it is none, or one of another version; the text says what is wrong with it.
    """
    try:
        told = json.loads(body)
        version = told.get("version") if isinstance(told, dict) else None
        if version == VERSION:
            return _REPORT.validate_python({**told, "samples": [measured(one) for one in told.get("samples", ())]})
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        message = f"not a report: {first_fault(error)}"
        raise RefusedError(message) from error
    message = (
        f"a report of version {version!r}, this Headgate reads {VERSION}. Hint: run the same Headgate on both sides"
    )
    raise RefusedError(message)
