"""
From a job's samples to evaluated metrics whose factors lead to the parallelism that the HPA would have.

Rates are told beside them as everywhere else: a factor stays a ratio of capacities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from headgate.algorithm.hpa.formula import factor_to, utilization
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

_LEAST = 0.001
"""What is less, or unknown, is told as a thousandth, the unit of the log: a capacity must be a number above zero."""


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
    return EvaluatedMetrics(
        vertices={vertex: _metrics(job, topology.by_id[vertex]) for vertex in job.groups},
        backlog=any(is_counted(readings[-1], policy) for readings in job.readings.values()),
        coverage=min(1.0, (samples[-1].at - samples[0].at) / options.metrics_window),
        samples=min(track.samples for group in job.groups.values() for track in group.members),
        job=job_wide(samples[-1], _averages(samples)),
    )


def _metrics(job: Watched, vertex: Vertex) -> VertexMetrics:
    """
    Tell a vertex what the policy wants, with the rates that its readings imply.

    Its load is the utilization that the HPA goes by, so that a rule of Headgate's about busy vertices says the same.
    """
    latest, found = job.readings[vertex.id][-1], job.recommendations[vertex.id]
    load, rate = utilization(latest.idle_ms), np.fmax(latest.rate, _LEAST)
    capacity = float(rate / np.fmax(load, _LEAST))
    factor = factor_to(vertex.parallelism, found.replicas)
    known = {
        ScalingMetric.LOAD: load,
        ScalingMetric.TRUE_PROCESSING_RATE: capacity,
        ScalingMetric.TARGET_DATA_RATE: float(np.maximum(0.0, latest.rate + latest.lag_slope)),
        ScalingMetric.LAG: _lag(job, vertex),
    }
    return VertexMetrics(
        metrics={metric: value for metric, value in known.items() if not np.isnan(value)},
        needed_capacity=capacity * factor,
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
