"""What an agent sends, read back into Headgate's values: checked as a whole, for whoever sends it may be anybody."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from headgate.errors import RefusedError
from headgate.model.decision import Decision
from headgate.model.events import Event
from headgate.model.measures import Measure
from headgate.model.samples import JobSample

VERSION = 1
"""Of the reports that are understood."""
_COLUMNS = {measure.column: measure for measure in Measure}


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
            return _REPORT.validate_python({**told, "samples": [_measured(one) for one in told.get("samples", ())]})
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        message = f"not a report: {_first_fault(error)}"
        raise RefusedError(message) from error
    message = (
        f"a report of version {version!r}, this Headgate reads {VERSION}. Hint: run the same Headgate on both sides"
    )
    raise RefusedError(message)


def _measured(sample: Mapping[str, Any]) -> Mapping[str, Any]:
    """Put measures in the place of their columns; one that is not known here was measured by a newer agent."""
    vertices = {vertex: {**told, "values": _by_measure(told["values"])} for vertex, told in sample["vertices"].items()}
    return {**sample, "vertices": vertices}


def _by_measure(values: Mapping[str, float]) -> Mapping[Measure, float]:
    return {_COLUMNS[column]: value for column, value in values.items() if column in _COLUMNS}


def _first_fault(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return str(error) or type(error).__name__
    fault = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, fault['loc']))}: {fault['msg'].lower()}"
