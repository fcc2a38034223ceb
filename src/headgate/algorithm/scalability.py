"""How much of its share an added subtask brings, as a vertex's own history shows."""

from __future__ import annotations

import math
from collections.abc import Sequence

from headgate.algorithm.history import Scaling
from headgate.algorithm.policies import Policy, scaled
from headgate.model.decision import Proposal
from headgate.model.metrics import ScalingMetric, VertexMetrics
from headgate.model.reasons import Reason
from headgate.options.autoscaler import AutoscalerOptions

HUNDREDTHS = 100


def coefficient(scalings: Sequence[Scaling], options: AutoscalerOptions) -> float:
    """
    Fit `rate = coefficient * base * parallelism` to the history; 1 where that is too short or not known.

    Least squares through the origin, rounded up to hundredths, within the options' minimum and 1.
    Source: the reference's observed scalability (FLIP-271, `calculateObservedScalability`).
    """
    points = [(entry.before, entry.rate(ScalingMetric.TRUE_PROCESSING_RATE)) for entry in scalings]
    if len(points) < options.observed_scalability_min_observations:
        return 1.0
    base = base_rate(points)
    if math.isnan(base) or any(math.isnan(rate) for _, rate in points):
        return 1.0
    fitted = sum(p * rate for p, rate in points) / (base * sum(p * p for p, _ in points))
    return _ceil(min(max(fitted, options.observed_scalability_coefficient_min), 1.0))


def base_rate(points: Sequence[tuple[int, float]]) -> float:
    """Give the rate of one subtask: at the smallest parallelism that was seen, the newest time it was."""
    parallelism, rate = min(reversed(points), key=lambda point: point[0])
    return rate / parallelism


def _ceil(x: float) -> float:
    return math.ceil(x * HUNDREDTHS) / HUNDREDTHS


def scaling_as_observed(metrics: VertexMetrics, scalings: Sequence[Scaling], options: AutoscalerOptions) -> Policy:
    """Ask for more where an added subtask is known to bring only a share of the first one's rate."""
    share = coefficient(scalings, options) if options.observed_scalability_enabled else 1.0

    def policy(proposal: Proposal) -> Proposal:
        if metrics.factor is None:
            return proposal
        detail = f"a subtask brings {share:.2f} of its share, as past rescales show"
        return proposal.limited_to(
            scaled(proposal.current, metrics.factor / share), Reason.OBSERVED_SCALABILITY, detail
        )

    return policy
