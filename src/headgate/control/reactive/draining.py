"""Before workers go, the jobs that the engine has to be told of let go of as many slots: how far that is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

_PATIENCE = timedelta(minutes=5)
"""How long slots of workers that were told to go may still be counted: for longer than a heartbeat takes to fail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drain:
    """Some workers are about to go."""

    stay: int
    """How many of those that Headgate asks for stay."""
    cap: int
    """Slots that may be used meanwhile: theirs, and those of workers that somebody else has started."""
    told_at: datetime | None = None
    """When the others were told to go; None while their slots are in use."""

    def told(self, now: datetime) -> Drain:
        """Note that they are told to go."""
        return self if self.told_at else replace(self, told_at=now)

    def is_over(self, count: int, total: int | None, now: datetime) -> bool:
        """
        Tell whether all slots may be used again.

        Args:
            count: workers that are asked for now.
            total: slots that the engine counts; None when unknown.
            now: time of the question.
        """
        late = self.told_at is not None and now - self.told_at >= _PATIENCE
        return count > self.stay or late or (total is not None and total <= self.cap)


def drain_of(before: Drain | None, asked: int, stay: int, *, per_worker: int, total: int | None) -> Drain:
    """
    Give what may be used while so many of those asked for stay; fixed once it has begun.

    Args:
        before: what is under way.
        asked: workers that were asked for last.
        stay: how many of them do.
        per_worker: slots.
        total: slots that the engine counts; None when unknown. Where some of ours are missing, it tells too little.
    """
    if before is not None and before.stay == stay and before.told_at is None:
        return before
    counted = total or 0
    if before is not None and before.told_at is not None:
        counted = min(counted, before.cap)  # those that were told to go before may be counted still
    return Drain(stay=stay, cap=max(stay * per_worker, counted - (asked - stay) * per_worker))
