"""The stabilization windows of the HPA: the calmest of what was recommended lately is done, not the latest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

USUAL_SCALE_DOWN_S = 300.0
"""Kubernetes' default of five minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stabilization:
    """Lengths of both windows, seconds; 0 does the latest at once."""

    scale_up_s: float = 0.0
    scale_down_s: float = USUAL_SCALE_DOWN_S

    @property
    def longest_s(self) -> float:
        """How far back recommendations count at all."""
        return max(self.scale_up_s, self.scale_down_s)


@dataclass(frozen=True, slots=True)
class Recommended:
    """What was recommended at an instant, seconds."""

    at_s: float
    replicas: int


def stabilized(current: int, recommended: Sequence[Recommended], windows: Stabilization, *, since_s: float) -> int:
    """
    Give what is done: no fewer replicas than were recommended within one window, no more than within the other.

    So that nothing must be remembered, the recommendations are those that the samples give anew. Where these do not
    reach back through a window, the running number counts as one that was recommended before them.
    Source: HPA, `stabilizeRecommendationWithBehaviors`, and its first recommendation after a start.

    Args:
        current: replicas that run.
        recommended: oldest first, the latest included, at least one.
        windows: how far back they count.
        since_s: from when on there is a recommendation for every instant, without any hole.
    """
    latest = recommended[-1]
    most = min(_within(windows.scale_up_s, current, recommended, since_s=since_s), default=latest.replicas)
    least = max(_within(windows.scale_down_s, current, recommended, since_s=since_s), default=latest.replicas)
    # As Kubernetes has it: from what runs, up to the one and down to the other.
    return min(max(current, min(most, latest.replicas)), max(least, latest.replicas))


def _within(length_s: float, current: int, recommended: Sequence[Recommended], *, since_s: float) -> Iterable[int]:
    """Give what counts within a window that ends at the latest recommendation, its begin not included."""
    begin_s = recommended[-1].at_s - length_s
    if length_s > 0 and since_s > begin_s:
        yield current
    yield from (each.replicas for each in recommended if each.at_s > begin_s)
