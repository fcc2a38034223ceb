"""Durations as people and Flink write them; inside the program they are `timedelta`."""

from __future__ import annotations

import re
from datetime import timedelta

_UNITS = {
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "min": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
}
_ALIASES = {
    **dict.fromkeys(("milli", "millis", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("m", "minute", "minutes"), "min"),
    **dict.fromkeys(("hour", "hours"), "h"),
    **dict.fromkeys(("day", "days"), "d"),
}
_TEXT = re.compile(r"\s*(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[a-z]+)\s*", re.IGNORECASE)


def parse_duration(text: str) -> timedelta:
    """
    Read `30 s`, `5min`, `1 h`; a unit is required, except for 0.

    Raises:
        ValueError: no number, no unit, or an unknown one.
    """
    if text.strip() == "0":
        return timedelta()
    match = _TEXT.fullmatch(text)
    unit = match["unit"].lower() if match else ""
    unit = _ALIASES.get(unit, unit)
    if match is None or unit not in _UNITS:
        message = (
            f"{text!r} is not a duration. Hint: write a number and one of {', '.join(_UNITS)}, like '30 s'"
        )
        raise ValueError(message)
    return float(match["number"]) * _UNITS[unit]


def format_duration(duration: timedelta) -> str:
    """Write a duration in the largest unit that needs no fraction, readable by `parse_duration`."""
    for unit, size in reversed(_UNITS.items()):
        if duration % size == timedelta() and duration >= size:
            return f"{duration // size} {unit}"
    return "0 s" if not duration else f"{duration / _UNITS['ms']:g} ms"
