"""How numbers are written for people, the same in messages, steps and explanations."""

from __future__ import annotations

import math
from datetime import UTC, datetime


def amount(number: float) -> str:
    """Write a rate or a count: whole from 10 on, three digits below, `unlimited` for infinity."""
    if math.isinf(number):
        return "unlimited"
    return f"{number:.0f}" if abs(number) >= 10 else f"{number:.3g}"  # noqa: PLR2004


def moment(at: datetime) -> str:
    """Write an instant in UTC, to the second."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
