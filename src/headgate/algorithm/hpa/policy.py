"""The policy: from the readings of all windows to the replicas that the HPA would have now."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from headgate.algorithm.hpa.formula import (
    LAG_TARGET,
    Tolerance,
    desired,
    relative_lag_change,
    usage_ratio,
    utilization,
)
from headgate.algorithm.hpa.readings import Reading
from headgate.algorithm.hpa.stabilization import Recommended, Stabilization, stabilized
from headgate.algorithm.hpa.votes import NO_SAY, Vote, elected

LAG, UTILIZATION = "lag change", "utilization"

MINIMUM_LAG = 50_000.0
"""Records; the number of published evaluations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the policy is told."""

    utilization_target: float = 0.7
    """Above 0, up to 1."""
    minimum_lag: float = MINIMUM_LAG
    """Records, on average over the window, up to which the lag has no say."""
    tolerance: Tolerance = field(default_factory=Tolerance)
    stabilization: Stabilization = field(default_factory=Stabilization)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """What comes of it for one number of running replicas."""

    replicas: int
    """After stabilization, 1 at least; what runs where nothing may be decided."""
    votes: Sequence[Vote]
    """Of the latest window."""
    followed: Vote | None
    """None: a metric is missing, and nothing may be decided."""

    @property
    def is_held(self) -> bool:
        """Whether stabilization holds the latest wish back."""
        return self.followed is not None and self.replicas != self.followed.replicas

    @property
    def is_blind(self) -> bool:
        """Whether no metric at all is known."""
        return all(vote.wants is None for vote in self.votes)


def votes(reading: Reading, current: int, policy: Policy) -> tuple[Vote, Vote]:
    """
    Give what both metrics want.

    The lag only drives growth: up to the minimum it has no say, above it never less than what runs, for a backlog that
    shrinks needs those who work it off. Utilization drives shrinking; as it ends at 1, it cannot tell how much a
    growing backlog needs. Source: Varga, Balassi, Kiss (2021).
    """
    return _lag_vote(reading, current, policy), _utilization_vote(reading, current, policy)


def recommend(readings: Sequence[Reading], current: int, policy: Policy, *, since_s: float) -> Recommendation:
    """
    Give the recommendation of the latest window, held against those of the windows before it.

    Args:
        readings: one at least, oldest first, all of windows in which `current` replicas ran.
        current: replicas that run.
        policy: what to go by.
        since_s: from when on there are readings without any hole.
    """
    wishes = [(reading.at_s, elected(votes(reading, current, policy), current)) for reading in readings]
    recommended = [Recommended(at_s, vote.replicas) for at_s, vote in wishes if vote]
    followed = wishes[-1][1]
    return Recommendation(
        replicas=stabilized(current, recommended, policy.stabilization, since_s=since_s) if followed else current,
        votes=votes(readings[-1], current, policy),
        followed=followed,
    )


def is_counted(reading: Reading, policy: Policy) -> bool:
    """Tell whether the lag has a say; not where it is unknown."""
    return reading.lag > policy.minimum_lag


def _lag_vote(reading: Reading, current: int, policy: Policy) -> Vote:
    change = relative_lag_change(reading.lag_slope, reading.rate)
    wants = _wanted_by_lag(reading.lag, change, current, policy)
    return Vote(metric=LAG, value=change, target=LAG_TARGET, wants=wants)


def _wanted_by_lag(lag: float, change: float, current: int, policy: Policy) -> int | None:
    if lag <= policy.minimum_lag:
        return NO_SAY
    if math.isnan(lag) or math.isnan(change):
        return None
    return desired(current, max(1.0, usage_ratio(change, LAG_TARGET)), policy.tolerance)


def _utilization_vote(reading: Reading, current: int, policy: Policy) -> Vote:
    share, target = utilization(reading.idle_ms), policy.utilization_target
    wants = None if math.isnan(share) else desired(current, usage_ratio(share, target), policy.tolerance)
    return Vote(metric=UTILIZATION, value=share, target=target, wants=wants)
