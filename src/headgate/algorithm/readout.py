"""From the arrays of an evaluation back to each job's evaluated metrics, and to the spans that readiness asks for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from headgate.algorithm.batch import Batch, Evaluation
from headgate.algorithm.columns import Table
from headgate.algorithm.fleet import FleetJob
from headgate.algorithm.rates import rate
from headgate.algorithm.readiness import Span
from headgate.algorithm.stats import Bools
from headgate.model.identity import JobKey, VertexId
from headgate.model.metrics import EvaluatedMetrics, NotReady, ScalingMetric, VertexMetrics
from headgate.model.reasons import Reason
from headgate.model.samples import Measure
from headgate.model.topology import Vertex

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def metrics_by_job(
    jobs: Sequence[FleetJob], batch: Batch, evaluation: Evaluation
) -> Mapping[JobKey, EvaluatedMetrics | NotReady]:
    """
    Give each job its evaluated metrics; the jobs come in the order in which the batch was assembled from them.

    A job with a vertex whose records are not known is not ready: nothing can be carried through that vertex, and
    those behind it would seem to need nothing.
    """
    missing = (uncounted(batch) | np.isnan(evaluation.target_data_rate)).tolist()
    ends = np.cumsum([len(job.topology.vertices) for job in jobs]).tolist()
    known = evaluated_vertices(jobs, batch, evaluation)
    backlog = evaluation.backlog.tolist()
    answers: dict[JobKey, EvaluatedMetrics | NotReady] = {}
    for job, begin, end in zip(jobs, [0, *ends], ends, strict=False):
        answers[job.key] = _missing(job, missing[begin:end]) or EvaluatedMetrics(
            vertices=dict(zip((vertex.id for vertex in job.topology.vertices), known[begin:end], strict=True)),
            backlog=any(backlog[begin:end]),
            coverage=job.coverage,
            samples=job.samples,
        )
    return answers


def evaluated_vertices(jobs: Sequence[FleetJob], batch: Batch, evaluation: Evaluation) -> Sequence[VertexMetrics]:
    """Give the metrics of each row of the batch; one that could not be computed is absent."""
    columns = {
        ScalingMetric.LOAD: evaluation.load,
        ScalingMetric.TRUE_PROCESSING_RATE: evaluation.true_processing_rate,
        ScalingMetric.TARGET_DATA_RATE: evaluation.target_data_rate,
        ScalingMetric.CATCH_UP_DATA_RATE: evaluation.catch_up_data_rate,
        ScalingMetric.LAG: np.where(batch.is_source, evaluation.lag, np.nan),
        ScalingMetric.SCALE_UP_RATE_THRESHOLD: evaluation.scale_up_threshold,
        ScalingMetric.SCALE_DOWN_RATE_THRESHOLD: evaluation.scale_down_threshold,
    }
    vertices = [vertex for job in jobs for vertex in job.topology.vertices]
    numbers = zip(*(values.tolist() for values in columns.values()), strict=True)
    judged = (evaluation.needed_capacity, evaluation.factor, evaluation.outside)
    limits = _limits(evaluation)
    return [
        VertexMetrics(
            metrics={
                **{metric: value for metric, value in zip(columns, row, strict=True) if not math.isnan(value)},
                **_of_graph(vertex),
            },
            needed_capacity=None if math.isnan(needed) else needed,
            factor=None if math.isnan(factor) else factor,
            outside=outside,
            limits=limits.get(place, {}),
        )
        for place, (vertex, row, needed, factor, outside) in enumerate(
            zip(vertices, numbers, *(values.tolist() for values in judged), strict=True)
        )
    ]


def _limits(evaluation: Evaluation) -> Mapping[int, Mapping[Reason, float]]:
    """Give what limits growth, by row; few rows have any."""
    limits: dict[int, dict[Reason, float]] = {}
    for reason, values in (
        (Reason.SKEW, evaluation.skew_limit),
        (Reason.SATURATED, evaluation.saturation_limit),
        (Reason.DOWNSTREAM_LIMIT, evaluation.downstream_limit),
    ):
        for row in np.flatnonzero(np.isfinite(values)).tolist():
            limits.setdefault(row, {})[reason] = float(values[row])
    return limits


def uncounted(batch: Batch) -> Bools:
    """Tell which vertices did not report what they read, or what they write although something reads it."""
    unread = np.isnan(rate(batch.windows[Measure.NUM_RECORDS_IN]))
    unwritten = np.isnan(rate(batch.windows[Measure.NUM_RECORDS_OUT]))
    has_output = np.bincount(batch.upstream, minlength=len(batch.job)) > 0
    return unread | (unwritten & has_output)


def spans_by_job(windows: Table) -> Mapping[str, Mapping[VertexId, Span]]:
    """Give what the reduced windows hold of each vertex, under the text form of the job's key."""
    spans: dict[str, dict[VertexId, Span]] = {}
    columns = (windows[name].values.tolist() for name in ("samples", "first_at_ms", "last_at_ms"))
    for job, vertex, samples, first, last in zip(windows.job.tolist(), windows.vertex.tolist(), *columns, strict=True):
        span = Span(samples=samples, first_at=_instant(first), last_at=_instant(last))
        of_job = spans.setdefault(job, {})
        of_job[vertex] = of_job[vertex].joined(span) if vertex in of_job else span
    return spans


def _instant(epoch_ms: int) -> datetime:
    return EPOCH + timedelta(milliseconds=epoch_ms)


def _missing(job: FleetJob, missing: Sequence[bool]) -> NotReady | None:
    names = [vertex.name for vertex, lacks in zip(job.topology.vertices, missing, strict=True) if lacks]
    if not names:
        return None
    return NotReady(reason=Reason.MISSING_METRICS, message=f"the records of {', '.join(names)} are not known")


def _of_graph(vertex: Vertex) -> Mapping[ScalingMetric, float]:
    return {
        ScalingMetric.PARALLELISM: float(vertex.parallelism),
        ScalingMetric.MAX_PARALLELISM: float(vertex.max_parallelism),
        ScalingMetric.NUM_SOURCE_PARTITIONS: float(vertex.partitions or 0),
    }
