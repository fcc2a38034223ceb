"""How numbers are written for people, the same in messages, steps and explanations."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

_SPANS = (("h", 3600), ("min", 60))
_MIB = 2**20


def amount(number: float) -> str:
    """Write a rate or a count: whole from 10 on, three digits below, `unlimited` for infinity."""
    if math.isinf(number):
        return "unlimited"
    return f"{number:.0f}" if abs(number) >= 10 else f"{number:.3g}"  # noqa: PLR2004


def span(length: timedelta | float) -> str:
    """
    Write a duration or a number of seconds: from 2 min on in minutes, from 2 h on in hours, to a tenth of these.

    Infinity is a word: no end.
    """
    seconds = length.total_seconds() if isinstance(length, timedelta) else length
    if math.isinf(seconds):
        return "no end"
    for unit, size in _SPANS:
        if abs(seconds) >= 2 * size:
            return f"{seconds / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{amount(seconds)} s"


def memory_size(size: float) -> str:
    """Write bytes: in whole MiB, from 10 GiB on in GiB with one decimal."""
    return f"{size / _MIB:.0f} MiB" if size < 10 * 1024 * _MIB else f"{size / 1024 / _MIB:.1f} GiB"


def moment(at: datetime) -> str:
    """Write an instant in UTC, to the second."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
