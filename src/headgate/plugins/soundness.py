"""
Whether what a plugin gives makes sense; its types are right already.

What is merely unknown or beside the point is left out. What contradicts itself is refused whole: nobody can tell which
half of it was meant.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from headgate.model.identity import VertexId
from headgate.model.metrics import EvaluatedMetrics, JobValue, NotReady, ScalingMetric, VertexMetrics
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample, Signal, VertexSample
from headgate.model.topology import Topology, Vertex
from headgate.ports import JobContext

_TOLERANCE = 0.01
"""How far a factor may be from needed capacity over true rate, as a share of it: both may have been rounded."""

_LIMITS = {
    Reason.SKEW,
    Reason.HOT_PARTITION,
    Reason.SATURATED,
    Reason.DOWNSTREAM_LIMIT,
    Reason.BATCH_LIMIT,
    Reason.BATCH_TASKS,
}
"""What may limit growth."""

_MAY_BE_INFINITE = {
    ScalingMetric.TRUE_PROCESSING_RATE,
    ScalingMetric.SCALE_UP_RATE_THRESHOLD,
    ScalingMetric.SCALE_DOWN_RATE_THRESHOLD,
}
"""The rate of a vertex that had nothing to do, and the bounds of one that is meant to be idle."""


def sound_metrics(answer: EvaluatedMetrics | NotReady, topology: Topology) -> EvaluatedMetrics | NotReady:
    """
    Give an evaluator's answer as far as it can be decided by; a vertex of which too little is known is left out.

    Raises:
        ValueError: it contradicts itself.
    """
    if isinstance(answer, NotReady):
        return answer
    if not 0 <= answer.coverage <= 1 or answer.samples < 0:
        message = f"coverage {answer.coverage:g} or samples {answer.samples} are out of range"
        raise ValueError(message)
    known = {vertex: topology.by_id[vertex] for vertex in topology.by_id if vertex in answer.vertices}
    vertices = {vertex: _sound_vertex(by, answer.vertices[vertex]) for vertex, by in known.items()}
    if all(metrics.factor is None for metrics in vertices.values()):
        return NotReady(reason=Reason.MISSING_METRICS, message="the evaluator knows of no vertex what it needs")
    job = {metric: JobValue(current=_known(v.current), average=_known(v.average)) for metric, v in answer.job.items()}
    return replace(answer, vertices=vertices, job=job, balanced=False)


def sound_overrides(overrides: Mapping[ScalingMetric, float]) -> Mapping[ScalingMetric, float]:
    """
    Give what an evaluator plugin replaces; NaN replaces nothing.

    Raises:
        ValueError: a number is below zero, or infinite where none can be.
    """
    return {metric: _sound_number(metric, value) for metric, value in overrides.items() if not math.isnan(value)}


def sound_sample(sample: JobSample, ctx: JobContext, at: datetime) -> JobSample:
    """
    Give a collector's sample as that of the job and of the tick that was asked for.

    Raises:
        ValueError: it is another job's, or has what cannot be.
    """
    if sample.job != ctx.key:
        message = f"a sample of {sample.job} is none of {ctx.key}"
        raise ValueError(message)
    topology = sound_topology(sample.topology)
    vertices = {vertex: _measured(values) for vertex, values in sample.vertices.items() if vertex in topology.by_id}
    values = {measure: value for measure, value in sample.values.items() if math.isfinite(value)}
    return replace(
        sample, at=at, job_id=ctx.job_id, vertices=vertices, values=values, signals=sound_signals(sample.signals)
    )


def sound_topology(topology: Topology) -> Topology:
    """
    Give a graph in which every vertex has subtasks.

    Raises:
        ValueError: one has none.
    """
    for vertex in topology.vertices:
        if vertex.parallelism < 1 or vertex.max_parallelism < 1 or (vertex.partitions or 0) < 0:
            message = f"vertex {vertex.name} has {vertex.parallelism} of at most {vertex.max_parallelism} subtasks"
            raise ValueError(message)
    return topology


def sound_signals(signals: Mapping[str, Signal]) -> Mapping[str, Signal]:
    """Give the signals that have a value."""
    return {name: signal for name, signal in signals.items() if math.isfinite(signal.value)}


def sound_parallelism(answer: Mapping[VertexId, Any], topology: Topology) -> Mapping[VertexId, int]:
    """
    Give a scaling policy's answer; vertices that the job does not have are left out.

    Raises:
        ValueError: a vertex would have no subtask, or a part of one.
    """
    known = {vertex: parallelism for vertex, parallelism in answer.items() if vertex in topology.by_id}
    for vertex, parallelism in known.items():
        if isinstance(parallelism, bool) or not isinstance(parallelism, int) or parallelism < 1:
            message = f"vertex {topology.by_id[vertex].name} would have {parallelism!r} subtasks"
            raise ValueError(message)
    return known


def _measured(sample: VertexSample) -> VertexSample:
    values = {measure: value for measure, value in sample.values.items() if not math.isnan(value)}
    below = next((measure.column for measure, value in values.items() if value < 0), None)
    if below:
        message = f"{below} is below zero"
        raise ValueError(message)
    return replace(sample, values=values)


def _sound_vertex(vertex: Vertex, given: VertexMetrics) -> VertexMetrics:
    given_metrics = sound_overrides(given.metrics)
    metrics = {**given_metrics, **_facts(vertex, given_metrics)}
    rate = metrics.get(ScalingMetric.TRUE_PROCESSING_RATE)
    needed, factor = _consistent(vertex.name, rate, given)
    limits = {reason: max(1.0, limit) for reason, limit in given.limits.items() if reason in _LIMITS}
    return VertexMetrics(
        metrics=metrics,
        needed_capacity=needed,
        factor=factor,
        outside=factor is not None and _is_outside(metrics, told=given.outside),
        limits=limits,
        basis=given.basis,
    )


def _facts(vertex: Vertex, given: Mapping[ScalingMetric, float]) -> Mapping[ScalingMetric, float]:
    """Tell what the graph knows better; of shares it knows those of sources only, a batch's tasks may be told."""
    shares = given.get(ScalingMetric.NUM_SOURCE_PARTITIONS, 0.0) if vertex.partitions is None else vertex.partitions
    return {
        ScalingMetric.PARALLELISM: float(vertex.parallelism),
        ScalingMetric.MAX_PARALLELISM: float(vertex.max_parallelism),
        ScalingMetric.NUM_SOURCE_PARTITIONS: float(shares),
    }


def _consistent(vertex: str, rate: float | None, given: VertexMetrics) -> tuple[float | None, float | None]:
    """
    Give needed capacity and factor, each from the other where only one is known.

    Without a true rate there is neither, but for a factor of which it is said what else it follows from.
    """
    needed, factor = _known(given.needed_capacity), _known(given.factor)
    if factor is not None and factor < 0:
        message = f"vertex {vertex} has factor {factor:g}"
        raise ValueError(message)
    if rate is None:
        return None, factor if given.basis else None
    needed = rate * factor if needed is None and factor is not None else needed
    exact = None if needed is None else _ratio(needed, rate)
    if needed is None or exact is None:
        return None, None
    if needed < 0:
        message = f"vertex {vertex} needs {needed:g}/s"
        raise ValueError(message)
    if factor is not None and not math.isclose(factor, exact, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE):
        message = f"vertex {vertex} has factor {factor:g}, but needs {needed:g}/s and does {rate:g}/s"
        raise ValueError(message)
    return needed, exact if factor is None else factor


def _ratio(needed: float, rate: float) -> float | None:
    """Give the factor; None where infinity is held against infinity, or nothing is known."""
    if math.isnan(needed) or (math.isinf(needed) and math.isinf(rate)):
        return None
    if rate == 0:
        return 0.0 if needed == 0 else math.inf
    return needed / rate


def _is_outside(metrics: Mapping[ScalingMetric, float], *, told: bool) -> bool:
    """Tell whether the true rate lies outside its band: by the band where it is known, else as the evaluator says."""
    rate = metrics.get(ScalingMetric.TRUE_PROCESSING_RATE)
    low, high = (
        metrics.get(m) for m in (ScalingMetric.SCALE_UP_RATE_THRESHOLD, ScalingMetric.SCALE_DOWN_RATE_THRESHOLD)
    )
    return told if rate is None or low is None or high is None else rate < low or rate > high


def _sound_number(metric: ScalingMetric, value: float) -> float:
    if value < 0 or (math.isinf(value) and metric not in _MAY_BE_INFINITE):
        message = f"{metric} is {value:g}"
        raise ValueError(message)
    return value


def _known(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value
