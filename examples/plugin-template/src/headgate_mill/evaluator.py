"""Evaluates a job by what one subtask is known to do, instead of measuring it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from headgate.model.measures import Measure
from headgate.model.metrics import EvaluatedMetrics, NotReady, ScalingMetric, VertexMetrics
from headgate.model.reasons import Reason
from headgate.model.samples import VertexSample
from headgate.model.topology import Vertex
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import CollectedMetrics

_LEAST = 2
"""Samples that a rate takes."""


class KnownCapacityEvaluator:
    """The same capacity for each subtask of each vertex. Implements `headgate.ports.MetricEvaluator`."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        """
        Take `capacity`, records/s of one fully busy subtask.

        Raises:
            ValueError: it is missing, or no number above 0.
        """
        self._capacity = float(parameters.get("capacity", "nan"))
        if not self._capacity > 0:
            message = "parameter capacity must be a number above 0, in records/s of one subtask"
            raise ValueError(message)

    def evaluate(
        self, conf: AutoscalerOptions, collected: CollectedMetrics, restart_time: timedelta, /
    ) -> EvaluatedMetrics | NotReady:
        """Need of every vertex what it was seen to read, at the utilization target."""
        vertices = {
            vertex.id: self._vertex(vertex, rate, conf)
            for vertex in collected.topology.vertices
            if (rate := _rate([one.vertices[vertex.id] for one in collected.samples if vertex.id in one.vertices]))
            is not None
        }
        if len(vertices) < len(collected.topology.vertices):
            return NotReady(reason=Reason.WINDOW_FILLING, message="a vertex was not seen twice yet")
        first, last = collected.samples[0].at, collected.samples[-1].at
        coverage = min(1.0, (last - first) / conf.metrics_window)
        return EvaluatedMetrics(vertices=vertices, backlog=False, coverage=coverage, samples=len(collected.samples))

    def _vertex(self, vertex: Vertex, rate: float, conf: AutoscalerOptions) -> VertexMetrics:
        true_rate, needed = self._capacity * vertex.parallelism, rate / conf.utilization_target
        least, most = rate / (conf.utilization_target + 0.1), rate / (conf.utilization_target - 0.1)
        return VertexMetrics(
            metrics={
                ScalingMetric.TRUE_PROCESSING_RATE: true_rate,
                ScalingMetric.TARGET_DATA_RATE: rate,
                ScalingMetric.SCALE_UP_RATE_THRESHOLD: least,
                ScalingMetric.SCALE_DOWN_RATE_THRESHOLD: most,
                ScalingMetric.LOAD: min(1.0, rate / true_rate),
                ScalingMetric.PARALLELISM: vertex.parallelism,
                ScalingMetric.MAX_PARALLELISM: vertex.max_parallelism,
            },
            needed_capacity=needed,
            factor=needed / true_rate,
            outside=not least <= true_rate <= most,
        )


def _rate(samples: Sequence[VertexSample]) -> float | None:
    """Give the records/s read since the oldest sample of the newest run."""
    run = [one for one in samples if one.epoch == samples[-1].epoch and Measure.NUM_RECORDS_IN in one.values]
    if len(run) < _LEAST:
        return None
    seconds = (run[-1].measured_at - run[0].measured_at).total_seconds()
    read = run[-1].values[Measure.NUM_RECORDS_IN] - run[0].values[Measure.NUM_RECORDS_IN]
    return read / seconds if seconds > 0 else None
