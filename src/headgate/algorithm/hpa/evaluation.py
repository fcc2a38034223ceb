"""
From a job's samples to evaluated metrics whose factors lead to the parallelism that the HPA would have.

Each vertex' own rates are told beside them, as everywhere else; what is not known of a vertex is not told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from headgate.algorithm.hpa.demand import coming
from headgate.algorithm.hpa.formula import capacity, factor_to, utilization
from headgate.algorithm.hpa.policy import is_counted
from headgate.algorithm.hpa.settings import Settings
from headgate.algorithm.hpa.watched import Watched
from headgate.algorithm.hpa.wording import sentence
from headgate.algorithm.job_wide import job_wide
from headgate.model.measures import JobMeasure, Measure
from headgate.model.metrics import EvaluatedMetrics, NotReady, ScalingMetric, VertexMetrics
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.model.topology import Topology, Vertex
from headgate.model.windows import AVERAGED
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.units import format_duration


def evaluate(
    topology: Topology, samples: Sequence[JobSample], options: AutoscalerOptions, settings: Settings
) -> EvaluatedMetrics | NotReady:
    """
    Evaluate one job by the policy.

    Args:
        topology: as it runs.
        samples: of its metric window, oldest first.
        options: of the job.
        settings: of the policy.

    Raises:
        ValueError: the job's options leave no room for the settings.
    """
    policy = settings.policy(options)
    job = Watched(topology, samples, settings, policy)
    if not samples or not job.is_past_gate:
        window = format_duration(settings.window)
        why = f"the samples do not span a window of {window} since the job last began to run"
        return NotReady(reason=Reason.WINDOW_FILLING, message=why)
    if all(found.is_blind for found in job.recommendations.values()):
        return NotReady(reason=Reason.MISSING_METRICS, message="neither lag nor idle time of the job is known")
    rates = coming(topology, job.own)
    return EvaluatedMetrics(
        vertices={vertex: _metrics(job, topology.by_id[vertex], rates[vertex]) for vertex in job.groups},
        backlog=any(is_counted(readings[-1], policy) for readings in job.readings.values()),
        coverage=min(1.0, (samples[-1].at - samples[0].at) / options.metrics_window),
        samples=min(track.samples for track in job.tracks.values()),
        job=job_wide(samples[-1], _averages(samples)),
    )


def _metrics(job: Watched, vertex: Vertex, rate: float) -> VertexMetrics:
    """
    Tell a vertex to which a rate comes what the policy wants.

    Its load is the utilization that the HPA goes by, so that a rule of Headgate's about busy vertices says the same.
    """
    latest, own, found = job.readings[vertex.id][-1], job.own[vertex.id], job.recommendations[vertex.id]
    true_rate = capacity(own.rate, own.idle_ms)
    factor = factor_to(vertex.parallelism, found.replicas)
    known = {
        ScalingMetric.LOAD: utilization(latest.idle_ms),
        ScalingMetric.TRUE_PROCESSING_RATE: true_rate,
        ScalingMetric.TARGET_DATA_RATE: rate,
        ScalingMetric.LAG: _lag(job, vertex),
    }
    return VertexMetrics(
        metrics={metric: value for metric, value in known.items() if not np.isnan(value)},
        needed_capacity=None if np.isnan(true_rate) else true_rate * factor,
        factor=factor,
        outside=found.replicas != vertex.parallelism,
        basis=sentence(found, latest, job.policy),
    )


def _lag(job: Watched, vertex: Vertex) -> float:
    sample = job.samples[-1].vertices.get(vertex.id)
    return np.nan if sample is None else sample.values.get(Measure.LAG, np.nan)


def _averages(samples: Sequence[JobSample]) -> Mapping[JobMeasure, float]:
    known = {measure: [s.values[measure] for s in samples if measure in s.values] for measure in AVERAGED}
    return {measure: float(np.mean(values)) for measure, values in known.items() if values}
