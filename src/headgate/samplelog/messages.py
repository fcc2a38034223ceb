"""
Samples as messages between the process that collects and the one that decides, and back.

A message holds the whole sample of one job at one tick, graph and settings included: whoever has it needs no other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pydantic import TypeAdapter, ValidationError

from headgate.errors import PermanentError, RefusedError
from headgate.model.measures import Measure
from headgate.model.samples import JobSample, VertexSample

MESSAGE_VERSION = 1
"""Of the messages that are written. One that only has more in it than another is of the same version."""

_SAMPLE = TypeAdapter(JobSample)
_VERTEX = TypeAdapter(VertexSample)
_INT32 = 2**31
_FIRST, _LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2286, 1, 1, tzinfo=UTC)
_COLUMNS = {measure.column: measure for measure in Measure}


def message_of(sample: JobSample) -> bytes:
    """Write a sample as a message."""
    told = _SAMPLE.dump_python(replace(sample, vertices={}), mode="json")
    told["vertices"] = {vertex: _vertex(values) for vertex, values in sample.vertices.items()}
    # Not `dump_json`: it writes an infinite rate as null, which would not come back.
    return json.dumps({"version": MESSAGE_VERSION, "sample": told}, separators=(",", ":")).encode()


def read_message(message: bytes) -> JobSample:
    """
    Read a sample back, equal to the one that was written.

    Raises:
        PermanentError: a newer Headgate wrote it.
        RefusedError: it is no sample; the text says what is wrong with it.
    """
    try:
        told = json.loads(message)
        version = told["version"]
        if version <= MESSAGE_VERSION:
            return _fitting(_SAMPLE.validate_python(measured(told["sample"])))
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        text = f"not a sample: {first_fault(error)}"
        raise RefusedError(text) from error
    text = f"a sample of message version {version}, this Headgate reads up to {MESSAGE_VERSION}. Hint: update it"
    raise PermanentError(text)


def measured(sample: Mapping[str, Any]) -> Mapping[str, Any]:
    """Put measures in the place of their columns; one that is not known here was measured by a newer Headgate."""
    vertices = {vertex: {**told, "values": _by_measure(told["values"])} for vertex, told in sample["vertices"].items()}
    return {**sample, "vertices": vertices}


def _fitting(sample: JobSample) -> JobSample:
    """
    Give a sample that the log can hold.

    Raises:
        ValueError: it cannot.
    """
    if not all(-_INT32 <= number < _INT32 for number in _numbers(sample) if number is not None):
        message = "a number is too large"
        raise ValueError(message)
    for at in _instants(sample):
        if at.tzinfo is None or not _FIRST <= at < _LAST:
            message = f"{at.isoformat()} is no instant that can be"
            raise ValueError(message)
    return sample


def _numbers(sample: JobSample) -> Iterator[int | None]:
    yield from (sample.slots_total, sample.slots_free)
    yield from (vertex.epoch for vertex in sample.vertices.values())
    for vertex in sample.topology.vertices:
        yield from (vertex.parallelism, vertex.max_parallelism, vertex.partitions)


def _instants(sample: JobSample) -> Iterator[datetime]:
    yield from (sample.at, sample.running_since)
    yield from (vertex.measured_at for vertex in sample.vertices.values())
    yield from (signal.measured_at for signal in sample.signals.values())


def _vertex(sample: VertexSample) -> Mapping[str, Any]:
    told: dict[str, Any] = _VERTEX.dump_python(replace(sample, values={}), mode="json")
    return told | {"values": {measure.column: value for measure, value in sample.values.items()}}


def _by_measure(values: Mapping[str, float]) -> Mapping[Measure, float]:
    return {_COLUMNS[column]: value for column, value in values.items() if column in _COLUMNS}


def first_fault(error: Exception) -> str:
    """Say what is wrong with what somebody sent, in a few words and without quoting it."""
    if not isinstance(error, ValidationError):
        return str(error) or type(error).__name__
    fault = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, fault['loc']))}: {fault['msg'].lower()}"
