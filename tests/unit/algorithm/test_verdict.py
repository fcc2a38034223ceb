"""The job's rule alone."""

from __future__ import annotations

from dataclasses import replace

from headgate.algorithm.verdict import verdict
from headgate.model.decision import Outcome, Proposal, Step
from headgate.model.identity import VertexId
from headgate.model.metrics import EvaluatedMetrics, ScalingMetric, VertexMetrics
from headgate.model.reasons import Reason
from headgate.options.autoscaler import AutoscalerOptions


def _verdict(*proposals: Proposal) -> tuple[Outcome, Reason, str]:
    rate = {ScalingMetric.TRUE_PROCESSING_RATE: 50.0}
    known = VertexMetrics(metrics=rate, needed_capacity=None, factor=2.0, outside=True)
    evaluated = EvaluatedMetrics(
        vertices={proposal.vertex: known for proposal in proposals}, backlog=False, coverage=1.0, samples=2
    )
    return verdict(proposals, evaluated, AutoscalerOptions())


def _proposal(name: str, current: int, wanted: int, *, outside: bool) -> Proposal:
    return Proposal(vertex=VertexId(name), name=name, current=current, wanted=wanted, outside=outside)


def test_outside_without_a_change_is_balanced() -> None:
    """A vertex outside its band that is at its limit gives nothing to do."""
    outcome, reason, _ = _verdict(_proposal("a", 8, 8, outside=True))

    assert (outcome, reason) == (Outcome.KEEP, Reason.BALANCED)


def test_a_cause_without_a_known_target_is_still_told() -> None:
    """The sentence says what is known."""
    outcome, _, message = _verdict(_proposal("a", 1, 2, outside=True), _proposal("b", 3, 2, outside=False))

    assert outcome is Outcome.RESCALE
    assert message == "a: 50/s true rate, needs an unknown rate, 1 -> 2"


def test_a_vertex_that_is_held_is_no_balance() -> None:
    """It is overloaded, and something had the last word: that is said instead of "every vertex is fine"."""
    step = Step(before=3, after=12, reason=Reason.UTILIZATION_TARGET, detail="1000/s needed")
    limit = Step(before=12, after=3, reason=Reason.MAX_PARALLELISM, detail="vertex.max-parallelism is 3")
    held = replace(_proposal("agg", 3, 3, outside=True), steps=(step, limit))

    outcome, reason, message = _verdict(held)

    assert (outcome, reason) == (Outcome.KEEP, Reason.LIMITED)
    assert message == "agg would run at 12 and stays at 3: vertex.max-parallelism is 3"
