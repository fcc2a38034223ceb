"""Durations and memory sizes as people and Flink write them; inside the program `timedelta` and whole bytes."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, NewType

from headgate.options.bounds import Interval

LONGEST = timedelta(days=3650)
"""No option is longer: with it a date of our time is still a date."""

LARGEST = 2**31 - 1
"""No option is a larger number: Flink counts no further, and what is reckoned with it stays finite."""

Duration = Annotated[timedelta, Interval(le=LONGEST)]
"""A duration, 0 included."""

PositiveDuration = Annotated[timedelta, Interval(gt=timedelta(), le=LONGEST)]
"""A duration above zero."""

Count = Annotated[int, Interval(ge=1, le=LARGEST)]
"""A whole number above zero."""

Factor = Annotated[float, Interval(ge=0, le=LARGEST)]
"""A finite number, 0 included."""

MemorySize = NewType("MemorySize", int)
"""Bytes."""

_UNITS = {
    "us": timedelta(microseconds=1),
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "min": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
}
_ALIASES = {
    **dict.fromkeys(("µs", "micro", "micros", "microsecond", "microseconds"), "us"),
    **dict.fromkeys(("milli", "millis", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("m", "minute", "minutes"), "min"),
    **dict.fromkeys(("hour", "hours"), "h"),
    **dict.fromkeys(("day", "days"), "d"),
}
_TEXT = re.compile(r"\s*(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[a-zµ]+)\s*", re.IGNORECASE | re.ASCII)


def parse_duration(text: str) -> timedelta:
    """
    Read `30 s`, `5min`, `1 h`; a unit is required, except for 0.

    Raises:
        ValueError: no number, no unit, an unknown one, or more than a `timedelta` holds.
    """
    if text.strip() == "0":
        return timedelta()
    match = _TEXT.fullmatch(text)
    unit = match["unit"].lower() if match else ""
    unit = _ALIASES.get(unit, unit)
    if match is None or unit not in _UNITS:
        message = f"{text!r} is not a duration. Hint: write a number and one of {', '.join(_UNITS)}, like '30 s'"
        raise ValueError(message)
    try:
        return _number(match["number"]) * _UNITS[unit]
    except OverflowError as error:
        message = f"{text!r} is too long for a duration"
        raise ValueError(message) from error


def format_duration(duration: timedelta) -> str:
    """Write a duration in the largest unit that needs no fraction, readable by `parse_duration`."""
    if not duration:
        return "0 s"
    unit = next(unit for unit, size in reversed(_UNITS.items()) if not duration % size)
    return f"{duration // _UNITS[unit]} {unit}"


_BYTES = {"b": 1, "kb": 2**10, "mb": 2**20, "gb": 2**30, "tb": 2**40}
_BYTE_ALIASES = {
    **dict.fromkeys(("", "bytes"), "b"),
    **dict.fromkeys(("k", "kibibytes"), "kb"),
    **dict.fromkeys(("m", "mebibytes"), "mb"),
    **dict.fromkeys(("g", "gibibytes"), "gb"),
    **dict.fromkeys(("t", "tebibytes"), "tb"),
}
_SIZE = re.compile(r"\s*(?P<number>\d+)\s*(?P<unit>[a-z]*)\s*", re.IGNORECASE | re.ASCII)


def parse_memory_size(text: str) -> MemorySize:
    """
    Read `30g`, `512 mb` as Flink does: powers of 1024, bytes without a unit.

    Raises:
        ValueError: no whole number, or an unknown unit.
    """
    match = _SIZE.fullmatch(text)
    unit = match["unit"].lower() if match else ""
    unit = _BYTE_ALIASES.get(unit, unit)
    if match is None or unit not in _BYTES:
        message = (
            f"{text!r} is not a memory size. Hint: write a whole number and one of b, kb, mb, gb, tb, like '30 gb'"
        )
        raise ValueError(message)
    return MemorySize(int(match["number"]) * _BYTES[unit])


def format_memory_size(size: int) -> str:
    """Write bytes in the largest unit that needs no fraction, readable by `parse_memory_size`."""
    unit = next(unit for unit, factor in reversed(_BYTES.items()) if factor <= max(size, 1) and not size % factor)
    return f"{size // _BYTES[unit]} {unit}"


def _number(text: str) -> int | float:
    # A whole number stays one: a float would lose the last microseconds of a long duration.
    return float(text) if "." in text else int(text)
