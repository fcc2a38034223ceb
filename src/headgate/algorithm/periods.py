"""
Excluded periods: times of the day, Quartz cron, or both, in which nothing is scaled.

The reference autoscaler's syntax (its CalendarUtils), which knows the system's time zone only; here an entry may end
in ` @ Europe/Berlin`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time
from functools import lru_cache
from zoneinfo import ZoneInfo

from headgate.algorithm.cron import Cron, read_cron

_TIME = r"(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?::(\d{1,3}))?)?"
_DAILY = re.compile(rf"{_TIME}\s*-\s*{_TIME}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Daily:
    """A time of each day, both ends included, never over midnight."""

    begin: time
    end: time

    def matches(self, wall: datetime) -> bool:
        """Tell whether a local time without zone lies inside; what is finer than a millisecond does not count."""
        return self.begin <= _whole_ms(wall).time() <= self.end


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """One entry: it holds when all its parts match."""

    parts: tuple[Daily | Cron, ...]
    zone: ZoneInfo | None
    """None where the entry names none."""


def is_excluded(periods: Sequence[str], at: datetime, zone: str | None) -> str | None:
    """
    Give the first entry that an instant lies in, or None.

    Args:
        periods: entries as the option holds them.
        at: the instant, aware.
        zone: the IANA time zone of entries that name none; None is the system's.

    Raises:
        ValueError: an entry or the zone cannot be read; `fault_of` tells before.
    """
    default = ZoneInfo(zone) if zone else None
    return next((text for text in periods if _holds(read_period(text), at, default)), None)


def fault_of(text: str) -> str | None:
    """Say what is wrong with an entry, or None."""
    try:
        read_period(text)
    except ValueError as error:
        return str(error)
    return None


def fault_of_zone(name: str) -> str | None:
    """Say what is wrong with the name of a time zone, or None."""
    try:
        _zone(name)
    except ValueError as error:
        return str(error)
    return None


@lru_cache(maxsize=4096)
def read_period(text: str) -> Period:
    """
    Read an entry: one part, or a daily one and a cron expression joined by `&&`, and perhaps ` @ ` and a zone.

    Raises:
        ValueError: it is none.
    """
    what, at, zone = text.partition("@")
    parts = tuple(_part(part.strip()) for part in what.split("&&"))
    if len({type(part) for part in parts}) != len(parts):
        message = f"{text!r} may join one daily period and one cron expression, nothing else"
        raise ValueError(message)
    return Period(parts=parts, zone=_zone(zone.strip()) if at else None)


def _holds(period: Period, at: datetime, default: ZoneInfo | None) -> bool:
    # without any zone this is the system's
    wall = at.astimezone(period.zone or default).replace(tzinfo=None)
    return all(part.matches(wall) for part in period.parts)


def _part(text: str) -> Daily | Cron:
    return _daily(text) if ":" in text else read_cron(text)


def _daily(text: str) -> Daily:
    match = _DAILY.fullmatch(text)
    if match is None:
        message = f"{text!r} is not a daily period. Hint: write it like 9:30-17:00"
        raise ValueError(message)
    numbers = [int(number or 0) for number in match.groups()]
    begin, end = _time(text, numbers[:4]), _time(text, numbers[4:])
    if begin >= end:
        message = f"{text!r} does not end after its begin. Hint: over midnight it takes two entries"
        raise ValueError(message)
    return Daily(begin=begin, end=end)


def _time(text: str, numbers: Sequence[int]) -> time:
    hour, minute, second, millisecond = numbers
    try:
        return time(hour, minute, second, millisecond * 1000)
    except ValueError as error:
        message = f"{text!r} has a time that no day has: {error}"
        raise ValueError(message) from error


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        message = f"{name!r} is not a time zone. Hint: write it like Europe/Berlin"
        raise ValueError(message) from error


def _whole_ms(wall: datetime) -> datetime:
    return wall.replace(microsecond=wall.microsecond // 1000 * 1000)
