"""How much of its share an added subtask brings, as a vertex's own history shows: as one coefficient, or as a curve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from headgate.algorithm.curve import Point, believed, bracket, fitted, towards_linear
from headgate.algorithm.history import Scaling
from headgate.algorithm.policies import LARGEST, Policy, scaled
from headgate.algorithm.wording import amount
from headgate.model.decision import Proposal
from headgate.model.metrics import ScalingMetric, VertexMetrics
from headgate.model.reasons import Reason
from headgate.options.autoscaler import AutoscalerOptions, ScalabilityModel


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
    if not base or not all(math.isfinite(rate) for _, rate in points):
        return 1.0
    share = sum(p * rate for p, rate in points) / (base * sum(p * p for p, _ in points))
    return _ceil(min(max(share, options.observed_scalability_coefficient_min), 1.0))


def base_rate(points: Sequence[tuple[int, float]]) -> float:
    """Give the rate of one subtask: at the smallest parallelism that was seen, the newest time it was."""
    parallelism, rate = min(reversed(points), key=lambda point: point[0])
    return rate / parallelism


def _ceil(x: float) -> float:
    # Of the decimal text: 0.07 times 100 is above 7 in binary.
    return float(Decimal(repr(x)).quantize(Decimal("0.01"), ROUND_CEILING))


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What is known of how a vertex's rate grows, and what it is to serve."""

    now: Point
    past: tuple[Point, ...]
    """Measured at other parallelisms, and not contradicted since."""
    need: float
    """Records/s it should be able to do."""
    exponent: float
    """Of the curve through the present point."""


def outlook_of(
    parallelism: int, metrics: VertexMetrics, scalings: Sequence[Scaling], options: AutoscalerOptions
) -> Outlook | None:
    """Fit the curve of a vertex that runs at a parallelism; None where no curve is asked for, or nothing is known."""
    if not options.observed_scalability_enabled or options.observed_scalability_model is not ScalabilityModel.CURVE:
        return None
    rate = metrics.metrics.get(ScalingMetric.TRUE_PROCESSING_RATE, math.nan)
    need = metrics.needed_capacity
    if not _is_positive(rate) or need is None or not _is_positive(need):
        return None
    now = Point(parallelism, rate)
    past = believed(_points(scalings), now)
    prior = options.observed_scalability_prior
    exponent = fitted((*past, now), towards_linear(prior) if now.serves(need) else prior)
    return Outlook(now=now, past=past, need=need, exponent=exponent)


def exponent_of(growth: Outlook | None) -> float:
    """Give the exponent by which the rate is expected to grow; 1 where there is no curve."""
    return growth.exponent if growth else 1.0


def least_serving(growth: Outlook, least_share: float) -> int:
    """
    Give the least parallelism that serves the need, by the curve and within what measurements leave open.

    `least_share` is the least share of its rate that a subtask is believed to keep (0 to 1). A larger parallelism
    than that allows is not asked for; where only the prior says so, it is not believed, and growth is taken to be
    linear: that cannot go too far, and gives a point to learn from.

    A vertex that is fast enough shrinks only where a linear estimate does too: then, unless more subtasks make each
    one faster, its present parallelism is not the least that serves, and it need never come back.
    """
    now, need = growth.now, growth.need
    linear, curved = now.least_serving(need), now.least_serving(need, growth.exponent)
    least, most = bracket(growth.past, now, need)
    if now.serves(need) and linear == now.parallelism:
        curved = linear
    if curved * least_share > linear:
        curved = math.ceil(linear / least_share) if growth.past else linear
    return math.ceil(min(max(curved, least), most, LARGEST))


def share_of(scalings: Sequence[Scaling], options: AutoscalerOptions) -> float:
    """Give the share of its rate that a subtask is taken to keep; 1 where no coefficient is asked for."""
    by_coefficient = options.observed_scalability_model is ScalabilityModel.COEFFICIENT
    return coefficient(scalings, options) if options.observed_scalability_enabled and by_coefficient else 1.0


def scaling_as_observed(metrics: VertexMetrics, scalings: Sequence[Scaling], options: AutoscalerOptions) -> Policy:
    """Ask for more where an added subtask is known to bring only a share of the first one's rate."""
    share = share_of(scalings, options)

    def policy(proposal: Proposal) -> Proposal:
        if metrics.factor is None:
            return proposal
        detail = f"a subtask brings {share:.2f} of its share, as past rescales show"
        return proposal.limited_to(
            scaled(proposal.current, metrics.factor / share), Reason.OBSERVED_SCALABILITY, detail
        )

    return policy


def scaling_along(growth: Outlook, options: AutoscalerOptions) -> Policy:
    """Ask for what the curve says instead of a parallelism in proportion."""
    wanted = least_serving(growth, options.observed_scalability_coefficient_min)
    seen = ", ".join(f"{amount(point.rate)}/s at {point.parallelism}" for point in (*growth.past, growth.now))
    detail = f"the rate grows with exponent {growth.exponent:.2f}, seen {seen}"

    def policy(proposal: Proposal) -> Proposal:
        return proposal.limited_to(wanted, Reason.OBSERVED_SCALABILITY, detail)

    return policy


def _points(scalings: Sequence[Scaling]) -> tuple[Point, ...]:
    rates = [(entry.before, entry.rate(ScalingMetric.TRUE_PROCESSING_RATE)) for entry in scalings]
    return tuple(Point(before, rate) for before, rate in rates if _is_positive(rate))


def _is_positive(rate: float) -> bool:
    return 0 < rate < math.inf
