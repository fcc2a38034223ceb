"""What the policy reads off the samples of one window: of a whole job, or of one vertex and the sources behind it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headgate.algorithm.deriv import deriv
from headgate.algorithm.hpa.series import Track
from headgate.algorithm.stats import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Whose numbers are added up."""

    sources: Sequence[Track]
    """Whose lag and rate count."""
    members: Sequence[Track]
    """Whose idle time counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Averages over the window that ends at an instant; NaN is unknown."""

    at_s: float
    lag: float
    """Records waiting in front of all sources, `avg_over_time`."""
    lag_slope: float
    """Their growth, records/s."""
    rate: float
    """Records/s that all sources read."""
    idle_ms: float
    """Idle milliseconds per second of a subtask."""


def reading(group: Group, at_s: Floats, first: int, last: int) -> Reading:
    """Read the window between two ticks, both included; what one vertex does not tell is unknown of all."""
    window = slice(first, last + 1)
    total = np.sum([track.lag[window] for track in group.sources], axis=0) if group.sources else np.empty(0)
    known = ~np.isnan(total)
    return Reading(
        at_s=float(at_s[last]),
        lag=float(total[known].mean()) if known.any() else math.nan,
        lag_slope=deriv(at_s[window][known], total[known]) if known.any() else math.nan,
        rate=sum((track.read.rate(first, last) for track in group.sources), start=0.0) if group.sources else math.nan,
        idle_ms=_idle_ms(group.members, first, last),
    )


def _idle_ms(members: Sequence[Track], first: int, last: int) -> float:
    """
    Give the mean over all subtasks.

    What a counter grew by over a window is what `avg_over_time` gives of the engine's own gauge per second.
    """
    idle = sum(track.idle.rate(first, last) for track in members)
    return idle / sum(track.parallelism for track in members) if members else math.nan
