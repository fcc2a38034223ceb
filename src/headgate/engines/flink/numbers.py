"""Numbers as Flink writes them: JSON numbers, texts, and the text `NaN` for what it does not know."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def number(value: Any) -> float | None:
    """Give a finite number; absent, NaN and infinite ones are None."""
    if value is None:
        return None
    result = float(value)
    return result if math.isfinite(result) else None


def instant(epoch_ms: float) -> datetime:
    """Give the instant of epoch milliseconds, to the microsecond."""
    return EPOCH + timedelta(milliseconds=epoch_ms)
