"""A decision in lines of text for people: the one wording that the log, the command line and the events use."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.algorithm import agreement, price, weighing
from headgate.algorithm.lag import TOLD, lacks_brokers, told_brokers_unknown
from headgate.algorithm.wording import amount, moment
from headgate.model.decision import Decision, Proposal, SeenSignal
from headgate.model.forecast import Forecast
from headgate.model.metrics import EvaluatedMetrics, ScalingMetric, VertexMetrics
from headgate.model.reasons import Reason

AWAITED = {
    Reason.STABILIZING: "waiting until the job has run for its stabilization interval",
    Reason.WINDOW_FILLING: "waiting until the samples span the metric window",
    Reason.NO_SAMPLES: "waiting for the first samples",
    Reason.INPUT_CUT_OFF: "waiting until it reads again: a rescale would not come up before",
    Reason.STALE_METRICS: "waiting for fresh samples",
    Reason.PARTIAL_METRICS: "waiting until the hole has left the metric window",
    Reason.MISSING_METRICS: "waiting until every vertex reports what is needed",
    Reason.EVIDENCE_AWAITED: "waiting until staying costs as much as a rescale, or more is known of the load",
    Reason.ROLLED_BACK: "waiting until the job is well again and its pause is over",
    Reason.RESCALE_IN_FLIGHT: "waiting until the change under way is done",
    Reason.JOB_NOT_RUNNING: "waiting until the job runs",
    Reason.JOB_UNREACHABLE: "waiting until the job answers",
    Reason.WORKERS_AWAITED: "waiting until the workers are there that were asked for",
    Reason.SLOTS_UNSETTLED: "waiting until the slots have been there for long enough",
    Reason.SLOTS_SHORT: "waiting for more slots",
    Reason.CHECKPOINT_AWAITED: "waiting for the next checkpoint",
}
"""What ends a state in which nothing is decided."""

RATES = {
    ScalingMetric.TRUE_PROCESSING_RATE: "true rate",
    ScalingMetric.TARGET_DATA_RATE: "target",
    ScalingMetric.CATCH_UP_DATA_RATE: "catch-up",
}


def explain(decision: Decision) -> tuple[str, ...]:
    """Give the decision line by line: what and why, what is waited for, then each vertex with its numbers and steps."""
    return tuple(_lines(decision))


def _lines(decision: Decision) -> Iterator[str]:
    yield f"{decision.job} at {moment(decision.at)}: {decision.outcome} ({decision.reason})"
    yield f"  {decision.message}"
    if decision.reason in AWAITED:
        yield f"  {AWAITED[decision.reason]}"
    if decision.evaluated is not None:
        yield from _window(decision.evaluated)
    if lacks_brokers(decision):
        yield f"  {told_brokers_unknown([decision.job])}"
    yield from _outlook(decision)
    for name, signal in decision.signals.items():
        yield f"  signal {name}: {_signal(signal)}"
    known = decision.evaluated.vertices if decision.evaluated else {}
    for proposal in decision.proposals:
        yield from _vertex(proposal, known.get(proposal.vertex))


def _window(evaluated: EvaluatedMetrics) -> Iterator[str]:
    yield f"  window {evaluated.coverage:.0%} covered, at least {evaluated.samples} samples a vertex"
    if evaluated.arrival is not None:
        yield f"  {weighing.told_arrival(evaluated.arrival)}"
    if evaluated.lag_origin is not None:
        yield f"  {TOLD[evaluated.lag_origin]}"
    if evaluated.backlog:
        yield "  the job is working off a backlog: nothing shrinks"


def _outlook(decision: Decision) -> Iterator[str]:
    """Say what is predicted of a rescale, what is agreed, and what it costs and saves."""
    predicted = decision.forecast or decision.evaluated
    if predicted is not None and predicted.downtime is not None:
        effect = "stops the job for" if predicted.downtime.stops else "delays batches by"
        yield f"  a rescale {effect} {agreement.told_downtime(predicted.downtime)}"
    if decision.forecast is not None:
        yield f"  agreement {_standing(decision.forecast)}: {agreement.told(decision.forecast)}"
    if decision.price is not None:
        yield f"  price: {price.told(decision.price)}"


def _standing(forecast: Forecast) -> str:
    if forecast.breaks:
        return "broken"
    return "kept" if forecast.lag_known else "uncertain"


def _signal(signal: SeenSignal) -> str:
    known = "not known" if signal.value is None else f"{amount(signal.value)} {signal.unit}".rstrip()
    age = "" if signal.age_s is None else f", {signal.age_s:.0f} s old"
    use = f" ({signal.use})" if signal.use else ""
    return f"{known}{age}{use}" + (f", missing: {signal.missing}" if signal.missing else "")


def _vertex(proposal: Proposal, known: VertexMetrics | None) -> Iterator[str]:
    change = f"{proposal.current} -> {proposal.wanted}" if proposal.changes else f"stays at {proposal.current}"
    yield f"  {proposal.name}: {change}"
    yield f"    {_numbers(known)}" if known else "    not measured"
    if known and known.basis and not proposal.steps:
        yield f"    {known.basis}"
    for step in proposal.steps:
        yield f"    {step.before} -> {step.after} {step.reason}: {step.detail}"


def _numbers(known: VertexMetrics) -> str:
    metrics = known.metrics
    parts = [f"{name} {amount(metrics[metric])}/s" for metric, name in RATES.items() if metric in metrics]
    if ScalingMetric.LOAD in metrics:
        parts.insert(0, f"busy {metrics[ScalingMetric.LOAD]:.2f}")
    if ScalingMetric.LAG in metrics:
        parts.append(f"lag {amount(metrics[ScalingMetric.LAG])}")
    return ", ".join([*parts, *_band(known)]) or "no metric is known"


def _band(known: VertexMetrics) -> Iterator[str]:
    low = known.metrics.get(ScalingMetric.SCALE_UP_RATE_THRESHOLD)
    high = known.metrics.get(ScalingMetric.SCALE_DOWN_RATE_THRESHOLD)
    if low is not None and high is not None:
        yield f"{'outside' if known.outside else 'within'} its band {amount(low)}/s to {amount(high)}/s"
