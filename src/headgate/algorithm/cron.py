"""
Quartz cron expressions, put into the terms of croniter: other numbers for days of the week, other words for last ones.

croniter knows seconds, years, `#`, `L` of a weekday and `15W`; days counted from a month's end (`LW`, `L-3`) are ours.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from croniter import croniter

_FIELDS = (6, 7)
_DAY_OF_MONTH, _DAY_OF_WEEK = 3, 5
_ANY, _NONE = "*", "?"
_DAYS = {name: str(number) for number, name in enumerate(("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"), start=1)}
_SATURDAY = 6
_SIZES = (60, 60, 24)
"""How many seconds, minutes and hours there are."""
_FROM_END = re.compile(r"L(?:-(?P<days>\d{1,2}))?(?P<weekday>W)?")
_FIELD = re.compile(r"[\dA-Z*?,/#-]+")
_CROWD = re.compile(r"[HR]\d|\b[HR]\b")
"""croniter's hashed and random fields, which Quartz does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cron:
    """A Quartz expression that was understood."""

    expression: str
    """In croniter's terms, seconds first."""
    days_from_end: int | None = None
    """The day of the month, counted back from its last; None leaves it to the expression."""
    on_weekday: bool = False
    """Whether that day is moved to the nearest weekday of its month."""

    def matches(self, wall: datetime) -> bool:
        """Tell whether it fires in the second of a local time without zone."""
        if self.days_from_end is not None and wall.date() != self._day_of(wall.date()):
            return False
        return _fires(self.expression, wall.replace(microsecond=0))

    def _day_of(self, day: date) -> date | None:
        last = calendar.monthrange(day.year, day.month)[1]
        number = last - (self.days_from_end or 0)
        if number < 1:
            return None
        chosen = day.replace(day=number)
        return _nearest_weekday(chosen, last) if self.on_weekday else chosen


def read_cron(text: str) -> Cron:
    """
    Read an expression of 6 or 7 fields: seconds, minutes, hours, day of month, month, day of week (1 = Sunday), year.

    Exactly one of the two days is `?`. As in Quartz, `L` and `W` stand alone in the day of the month.

    Raises:
        ValueError: it is none, or croniter is not installed.
    """
    fields = text.upper().split()
    if len(fields) not in _FIELDS:
        message = f"{text!r} has {len(fields)} fields. Hint: a cron expression has 6 or 7, seconds first, the year last"
        raise ValueError(message)
    if [fields[_DAY_OF_MONTH], fields[_DAY_OF_WEEK]].count(_NONE) != 1:
        message = f"{text!r} needs `?` for exactly one of day of month (4th field) and day of week (6th)"
        raise ValueError(message)
    croniter = _croniter()
    try:
        cron = _translate(fields)
        croniter.expand(cron.expression, second_at_beginning=True)
    except (ValueError, KeyError) as error:
        message = f"{text!r} is not a Quartz cron expression"
        raise ValueError(message) from error
    return cron


def _translate(fields: list[str]) -> Cron:
    if not all(_FIELD.fullmatch(field) and not _CROWD.search(field) for field in fields):
        message = "a character that no field has"
        raise ValueError(message)
    from_end = _FROM_END.fullmatch(fields[_DAY_OF_MONTH])
    terms = [re.sub(r"(^|,)/", r"\1*/", field) for field in fields]
    terms[: len(_SIZES)] = map(_unwrapped, terms, _SIZES)
    terms[_DAY_OF_MONTH] = _ANY if from_end else terms[_DAY_OF_MONTH].replace(_NONE, _ANY)
    terms[_DAY_OF_WEEK] = ",".join(_day_of_week(term) for term in terms[_DAY_OF_WEEK].split(","))
    return Cron(
        expression=" ".join(terms),
        days_from_end=int(from_end["days"] or 0) if from_end else None,
        on_weekday=bool(from_end and from_end["weekday"]),
    )


def _day_of_week(term: str) -> str:
    """Translate one part of the field: 1 to 7 become 0 to 6, `6L` becomes `L5`."""
    sign = next((sign for sign in "/#" if sign in term), "")
    days, _, rest = term.partition(sign or "/")
    if days in {_ANY, _NONE}:
        return f"0-6/{rest}" if sign == "/" else _ANY
    numbered = re.sub("|".join(_DAYS), lambda match: _DAYS[match.group()], "SAT" if days == "L" else days)
    shifted = re.sub(r"\d+", _one_less, numbered)
    if sign == "/":
        return _stepped(shifted, int(rest))
    return f"L{shifted.removesuffix('L')}{sign}{rest}" if shifted.endswith("L") else f"{shifted}{sign}{rest}"


def _stepped(days: str, step: int) -> str:
    """List every so many days: to Saturday, or to the end of a range."""
    first, _, last = days.partition("-")
    return _around(int(first), int(last or _SATURDAY), step, size=7)


def _unwrapped(field: str, size: int) -> str:
    """List what a range with a step means that goes beyond the last value, where croniter loses its step."""

    def listed(match: re.Match[str]) -> str:
        begin, end, step = map(int, match.groups())
        return _around(begin, end, step, size=size) if end < begin < size else match.group()

    return re.sub(r"(\d+)-(\d+)/(\d+)", listed, field)


def _around(begin: int, end: int, step: int, *, size: int) -> str:
    beyond = size if end < begin else 0
    return ",".join(str(value % size) for value in range(begin, end + beyond + 1, step))


def _one_less(match: re.Match[str]) -> str:
    if match.group() not in _DAYS.values():
        message = f"{match.group()} is no day of the week"
        raise ValueError(message)
    return str(int(match.group()) - 1)


def _nearest_weekday(day: date, last: int) -> date:
    """Move a Saturday or Sunday to the nearest weekday that is in the same month."""
    beyond = day.weekday() - calendar.FRIDAY
    if beyond <= 0:
        return day
    back, on = timedelta(days=-beyond), timedelta(days=3 - beyond)
    nearest, other = (back, on) if beyond == 1 else (on, back)
    return day + (nearest if 1 <= day.day + nearest.days <= last else other)


@lru_cache(maxsize=4096)
def _fires(expression: str, wall: datetime) -> bool:
    # of a tick's jobs many ask the same, and croniter parses anew each time
    return bool(_croniter().match(expression, wall, second_at_beginning=True, precision_in_seconds=1))


def _croniter() -> type[croniter]:
    """
    Give croniter; who names no such times need not have it.

    Raises:
        ValueError: it is not installed.
    """
    try:
        from croniter import croniter  # noqa: PLC0415
    except ImportError as error:
        message = "cron expressions need the package croniter. Hint: install it, or write 9:30-17:00"
        raise ValueError(message) from error
    return croniter
