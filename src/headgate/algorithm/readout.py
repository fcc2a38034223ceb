"""From the arrays of an evaluation back to the metrics of vertices."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headgate.algorithm.batch import Batch, Evaluation
from headgate.algorithm.fleet import FleetJob
from headgate.algorithm.rates import rate
from headgate.algorithm.stats import Bools, Floats
from headgate.model.metrics import NotReady, ScalingMetric, VertexMetrics
from headgate.model.reasons import Reason
from headgate.model.samples import Measure
from headgate.model.topology import Topology, Vertex


@dataclass(frozen=True, kw_only=True)
class Readout:
    """The numbers of a batch, read out row by row; nothing is made of a row before it is asked for."""

    batch: Batch
    evaluation: Evaluation

    @cached_property
    def _columns(self) -> Mapping[ScalingMetric, Floats]:
        found = self.evaluation
        return {
            ScalingMetric.LOAD: found.load,
            ScalingMetric.TRUE_PROCESSING_RATE: found.true_processing_rate,
            ScalingMetric.TARGET_DATA_RATE: found.target_data_rate,
            ScalingMetric.CATCH_UP_DATA_RATE: found.catch_up_data_rate,
            ScalingMetric.LAG: np.where(self.batch.is_source, found.lag, np.nan),
            ScalingMetric.SCALE_UP_RATE_THRESHOLD: found.scale_up_threshold,
            ScalingMetric.SCALE_DOWN_RATE_THRESHOLD: found.scale_down_threshold,
        }

    @cached_property
    def _limits(self) -> Mapping[int, Mapping[Reason, float]]:
        return _limits(self.evaluation)

    @cached_property
    def _uncounted(self) -> Bools:
        return uncounted(self.batch)

    @cached_property
    def _untold(self) -> Bools:
        """Whether it is not known what a vertex has to do; those behind an uncounted one are not to blame."""
        return np.isnan(self.evaluation.target_data_rate)

    def complete(self, jobs: int) -> Bools:
        """Tell of which jobs (m,) the records of every vertex are known."""
        known: Bools = np.bincount(self.batch.job, weights=self._uncounted | self._untold, minlength=jobs) == 0
        return known

    def vertices(self, topology: Topology, begin: int) -> Iterator[VertexMetrics]:
        """Yield the metrics of a job whose rows begin at `begin`; what could not be computed is absent."""
        rows = slice(begin, begin + len(topology.vertices))
        numbers = zip(*(values[rows].tolist() for values in self._columns.values()), strict=True)
        found = self.evaluation
        judged = (found.needed_capacity, found.factor, found.outside)
        judgments = zip(*(values[rows].tolist() for values in judged), strict=True)
        for place, (vertex, row, judgment) in enumerate(zip(topology.vertices, numbers, judgments, strict=True), begin):
            needed, factor, outside = judgment
            yield VertexMetrics(
                metrics={
                    **{
                        metric: value for metric, value in zip(self._columns, row, strict=True) if not math.isnan(value)
                    },
                    **_of_graph(vertex),
                },
                needed_capacity=None if math.isnan(needed) else needed,
                factor=None if math.isnan(factor) else factor,
                outside=outside,
                limits=self._limits.get(place, {}),
            )

    def lacking(self, topology: Topology, begin: int) -> NotReady | None:
        """
        Say which vertices' records are not known, None when all are.

        Such a job is not ready: those behind the vertex would seem to need nothing.
        """
        rows = slice(begin, begin + len(topology.vertices))
        missing = self._uncounted[rows] if self._uncounted[rows].any() else self._untold[rows]
        if not missing.any():
            return None
        names = [vertex.name for vertex, lacks in zip(topology.vertices, missing.tolist(), strict=True) if lacks]
        return NotReady(reason=Reason.MISSING_METRICS, message=f"the records of {', '.join(names)} are not known")


def evaluated_vertices(jobs: Sequence[FleetJob], batch: Batch, evaluation: Evaluation) -> Sequence[VertexMetrics]:
    """Give the metrics of each row of the batch."""
    readout, begin = Readout(batch=batch, evaluation=evaluation), 0
    found: list[VertexMetrics] = []
    for job in jobs:
        found += readout.vertices(job.topology, begin)
        begin = len(found)
    return found


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


def _of_graph(vertex: Vertex) -> dict[ScalingMetric, float]:
    return {
        ScalingMetric.PARALLELISM: float(vertex.parallelism),
        ScalingMetric.MAX_PARALLELISM: float(vertex.max_parallelism),
        ScalingMetric.NUM_SOURCE_PARTITIONS: float(vertex.partitions or 0),
    }
