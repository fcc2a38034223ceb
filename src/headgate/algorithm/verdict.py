"""The rule for the whole job: whether its vertices' proposals are worth a rescale, and the sentence that says so."""

from __future__ import annotations

from collections.abc import Sequence

from headgate.algorithm.wording import amount
from headgate.model.decision import Outcome, Proposal
from headgate.model.metrics import EvaluatedMetrics, ScalingMetric, VertexMetrics
from headgate.model.reasons import Reason
from headgate.options.autoscaler import AutoscalerOptions

IN_BALANCE = "every vertex runs at its wanted parallelism"

NAMED = 3
"""Vertices that a message names; the others are counted."""


def verdict(
    proposals: Sequence[Proposal], evaluated: EvaluatedMetrics, options: AutoscalerOptions
) -> tuple[Outcome, Reason, str]:
    """
    Rescale when a vertex that would change lies outside its band; then all that would change do.

    Source: the reference's `ScalingExecutor`.
    """
    changing = [proposal for proposal in proposals if proposal.changes]
    causes = [proposal for proposal in changing if proposal.outside]
    if not changing:
        held = [proposal for proposal in proposals if proposal.outside and proposal.steps]
        if held:
            return Outcome.KEEP, Reason.LIMITED, _listed([_held(proposal) for proposal in held])
        return Outcome.KEEP, Reason.BALANCED, IN_BALANCE
    if not causes:
        wishes = _listed([f"{p.name} {p.current} -> {p.wanted}" for p in changing])
        return Outcome.KEEP, Reason.WITHIN_BAND, f"every true rate is within its band; left alone: {wishes}"
    owed = [proposal for proposal in causes if _is_owed(proposal, evaluated)]
    sentences = [_owed(each) if each in owed else _cause(each, evaluated, options) for each in causes]
    reason = Reason.AGREEMENT if owed == causes else Reason.UTILIZATION_TARGET
    return Outcome.RESCALE, reason, _listed(sentences)


def _held(proposal: Proposal) -> str:
    """Say what a vertex outside its band would run at, and what had the last word."""
    last = proposal.steps[-1]
    return f"{proposal.name} would run at {proposal.steps[0].after} and stays at {proposal.current}: {last.detail}"


def _is_owed(proposal: Proposal, evaluated: EvaluatedMetrics) -> bool:
    """Tell whether a vertex has cause to change by what is agreed alone: it lies within its band."""
    by_agreement = any(step.reason is Reason.AGREEMENT for step in proposal.steps)
    return by_agreement and not evaluated.vertices[proposal.vertex].outside


def _owed(proposal: Proposal) -> str:
    last = [step for step in proposal.steps if step.reason is Reason.AGREEMENT][-1]
    return f"{proposal.name}: {last.detail}, {proposal.current} -> {proposal.wanted}"


def _listed(parts: Sequence[str]) -> str:
    rest = len(parts) - NAMED
    return "; ".join([*parts[:NAMED], *([f"and {rest} more"] if rest > 0 else [])])


def _cause(proposal: Proposal, evaluated: EvaluatedMetrics, options: AutoscalerOptions) -> str:
    known = evaluated.vertices[proposal.vertex]
    by_plugin = [step.detail for step in proposal.steps if step.reason is Reason.DECISION_PLUGIN]
    if basis := by_plugin[-1] if by_plugin else known.basis:
        return f"{proposal.name}: {basis}, {proposal.current} -> {proposal.wanted}"
    true_rate = amount(known.metrics[ScalingMetric.TRUE_PROCESSING_RATE])
    return (
        f"{proposal.name}: {true_rate}/s true rate, {_need(known, options.utilization_target)}, "
        f"{proposal.current} -> {proposal.wanted}"
    )


def _need(known: VertexMetrics, utilization: float) -> str:
    """Say what is needed and what it is made of: the target at the utilization, and the rest for lag and restart."""
    needed, target = known.needed_capacity, known.metrics.get(ScalingMetric.TARGET_DATA_RATE)
    if needed is None or target is None:
        return "needs an unknown rate"
    extra = needed - target / utilization if utilization else 0.0
    plus = f" plus {amount(extra)}/s for lag and restart" if extra >= 1 else ""
    return f"needs {amount(needed)}/s (target {amount(target)}/s at {utilization:.2f}{plus})"
