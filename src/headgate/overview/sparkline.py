"""A series of measured values in one line of text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from headgate.demo.chart import bars

Series = Sequence[tuple[datetime, float | None]]


def sparkline(series: Series, since: datetime, until: datetime, *, columns: int) -> str:
    """
    Draw a series, its largest value as a full block; empty where nothing is known at all.

    Args:
        series: values that are not negative, None where unknown.
        since: the left end.
        until: the right end.
        columns: of the line; the largest value in each is drawn, and a column without one is blank.
    """
    known = [(at, value) for at, value in series if value is not None]
    if not known:
        return ""
    width = (until - since) / columns
    highest: dict[int, float] = {}
    for at, value in known:
        column = min(int((at - since) / width), columns - 1)
        highest[column] = max(highest.get(column, 0.0), value)
    (line,) = bars([highest.get(column, 0.0) for column in range(columns)], height=1, top=max(highest.values()))
    return line


def extremes(series: Iterable[tuple[datetime, float | None]]) -> tuple[float, float]:
    """Give the smallest and the largest value that is known; 0 and 0 without any."""
    known = [value for _, value in series if value is not None]
    return (min(known), max(known)) if known else (0.0, 0.0)
