"""When to try again what was in vain: at once is too soon where storage or a cluster is away for a while."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

_FIRST = timedelta(seconds=5)
_LONGEST = timedelta(minutes=5)
_GROWTH = 3
_LONGEST_AFTER = 4
"""Attempts in vain from which on the pause is the longest."""


def pause_after(attempts: int) -> timedelta:
    """Give the time from one attempt to the next: 5 s after the first, three times that each time, 5 min at most."""
    if attempts <= 0:
        return timedelta()
    return _LONGEST if attempts > _LONGEST_AFTER else min(_LONGEST, _FIRST * _GROWTH ** (attempts - 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class InVain:
    """Attempts that the cluster shows no trace of."""

    attempts: int = 0
    at: datetime | None = None
    """When the latest was made."""

    def once_more(self, at: datetime) -> InVain:
        """Count another one."""
        return InVain(attempts=self.attempts + 1, at=at)

    def is_too_soon(self, now: datetime) -> bool:
        """Tell whether the next one must wait."""
        return self.at is not None and now - self.at < pause_after(self.attempts)
