"""Instants as whole microseconds since 1970 UTC: the form that tables and messages keep, exact both ways."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def epoch_us(at: datetime) -> int:
    """Give an instant as whole microseconds since 1970 UTC, exactly."""
    return (at - _EPOCH) // timedelta(microseconds=1)


def instant(microseconds: int) -> datetime:
    """Give what `epoch_us` made of an instant."""
    return _EPOCH + timedelta(microseconds=microseconds)
