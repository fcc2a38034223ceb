"""How numbers are written for people, the same in messages, steps and explanations."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta


def amount(number: float) -> str:
    """Write a rate or a count: whole from 10 on, three digits below, `unlimited` for infinity."""
    if math.isinf(number):
        return "unlimited"
    return f"{number:.0f}" if abs(number) >= 10 else f"{number:.3g}"  # noqa: PLR2004


def span(length: timedelta | float) -> str:
    """Write a duration or a number of seconds: in whole seconds from 10 on, three digits below, infinity in words."""
    seconds = length.total_seconds() if isinstance(length, timedelta) else length
    return "no end" if math.isinf(seconds) else f"{amount(seconds)} s"


def moment(at: datetime) -> str:
    """Write an instant in UTC, to the second."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
