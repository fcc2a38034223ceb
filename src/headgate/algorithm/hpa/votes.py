"""What each metric wants, and which of them has it: the largest, unless one that is missing might have wanted more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

NO_SAY = 0
"""So few that every other vote wins, and not the same as missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One metric and the replicas that it wants."""

    metric: str
    """Its name, for people."""
    value: float
    """NaN where it is missing."""
    target: float
    wants: int | None
    """`NO_SAY` where it does not count, None where it is missing."""

    @property
    def replicas(self) -> int:
        """What it wants; one replica at least, as fewer do nothing."""
        return max(1, self.wants or NO_SAY)


def elected(votes: Sequence[Vote], current: int) -> Vote | None:
    """
    Give the vote that is followed, of equal ones the first; None where nothing may be decided.

    All missing: nothing. One missing: the others may still let it grow or stay, but not shrink.
    Source: HPA, `computeReplicasForMetrics` (kubernetes/kubernetes#99514).
    """
    known = [vote for vote in votes if vote.wants is not None]
    largest = max(known, key=lambda vote: vote.wants or NO_SAY, default=None)
    if largest is None or (len(known) < len(votes) and largest.replicas < current):
        return None
    return largest
