"""Which rows of the listing are shown, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from headgate.overview.row import Attention, JobRow

_RANK = {attention: rank for rank, attention in enumerate(Attention)}


class Order(StrEnum):
    """By what rows are sorted; what needs a look comes first."""

    ATTENTION = "attention"
    NAME = "name"
    LAG = "lag"
    BUSY = "busy"
    PARALLELISM = "parallelism"
    AGE = "age"


def selected(rows: Sequence[JobRow], pattern: str | None, order: Order) -> tuple[JobRow, ...]:
    """
    Give the rows to be shown.

    Args:
        rows: of all jobs.
        pattern: of the key or of the name alone, `*` and `?` allowed; None: all.
        order: of the rows.
    """
    found = (row for row in rows if pattern is None or _matches(row, pattern))
    return tuple(sorted(found, key=_KEYS[order]))


def _matches(row: JobRow, pattern: str) -> bool:
    return fnmatchcase(str(row.job), pattern) or fnmatchcase(row.job.name, pattern)


def _lag(row: JobRow) -> tuple[float, float]:
    """Order by age before number: the same number is hours here and a second there."""
    return (-(row.lag.seconds or 0.0), -row.lag.records) if row.lag else (0.0, 0.0)


_KEYS: dict[Order, Callable[[JobRow], Any]] = {
    Order.ATTENTION: lambda row: (_RANK[row.attention], _lag(row), row.job),
    Order.NAME: lambda row: row.job,
    Order.LAG: lambda row: (_lag(row), row.job),
    Order.BUSY: lambda row: (-row.busiest.load if row.busiest else 0.0, row.job),
    Order.PARALLELISM: lambda row: (-(row.parallelism or 0), row.job),
    Order.AGE: lambda row: (-row.age_s, row.job),
}
