"""Whether the last growth of a vertex brought what was expected of it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from headgate.algorithm.history import Growth, Scaling, growth_to
from headgate.algorithm.policies import Policy
from headgate.algorithm.wording import amount
from headgate.model.decision import Notice, Proposal
from headgate.model.events import EventReason, EventType
from headgate.model.metrics import ScalingMetric, VertexMetrics
from headgate.model.reasons import Reason
from headgate.options.autoscaler import AutoscalerOptions


def growing_effectively(metrics: VertexMetrics, scalings: Sequence[Scaling], options: AutoscalerOptions) -> Policy:
    """
    Tell of a growth that followed an ineffective one, and stop it where the options say so.

    Only the vertex's newest rescale counts, if it was a growth to the running parallelism: whoever has changed that by
    hand since has ended the comparison. Source: the reference's `detectIneffectiveScaleUp` (FLIP-271).
    """

    def policy(proposal: Proposal) -> Proposal:
        last = scalings[-1] if scalings else None
        growth = growth_to(proposal.current, last)
        if proposal.wanted <= proposal.current or last is None or growth is None:
            return proposal
        expected, actual = gain(growth, metrics)
        if is_effective(expected, actual, options.effectiveness_threshold):
            return proposal
        told = _told(proposal, expected, actual, blocking=options.effectiveness_detection_enabled)
        if not options.effectiveness_detection_enabled:
            return told
        detail = f"the growth from {last.before} to {last.after} brought {amount(actual)} of {amount(expected)}/s"
        return told.limited_to(proposal.current, Reason.INEFFECTIVE_SCALING, detail)

    return policy


def gain(growth: Growth, metrics: VertexMetrics) -> tuple[float, float]:
    """Give the increase of the true rate that the last growth was expected to bring, and what it brought, records/s."""
    before, expected = growth
    now = metrics.metrics.get(ScalingMetric.TRUE_PROCESSING_RATE, math.nan)
    return expected - before, now - before


def is_effective(expected: float, actual: float, threshold: float) -> bool:
    """Tell whether enough of the expected increase came; no where either is unknown."""
    achieved = actual / expected if expected else math.inf * actual
    return achieved >= threshold


def _told(proposal: Proposal, expected: float, actual: float, *, blocking: bool) -> Proposal:
    consequence = "it does not grow further" if blocking else "growth is not stopped"
    notice = Notice(
        reason=EventReason.INEFFECTIVE_SCALING,
        type=EventType.NORMAL,
        message=f"{proposal.name} gained {amount(actual)}/s of the {amount(expected)}/s expected: {consequence}",
        key=f"ineffective:{proposal.vertex}:{expected:g}",
        fields={"expected_increase": expected, "actual_increase": actual, "blocking": int(blocking)},
    )
    return proposal.noticing(notice)
