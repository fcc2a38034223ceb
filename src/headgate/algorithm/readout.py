"""From the arrays of an evaluation back to the metrics of vertices; nothing is made of a row before it is asked for."""

from __future__ import annotations

import math
from collections.abc import ItemsView, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headgate.algorithm.batch import Batch, Evaluation
from headgate.algorithm.fleet import FleetJob
from headgate.algorithm.rates import rate
from headgate.algorithm.stats import Bools, Floats
from headgate.model.identity import VertexId
from headgate.model.measures import Measure
from headgate.model.metrics import NotReady, ScalingMetric, VertexMetrics
from headgate.model.reasons import Reason
from headgate.model.topology import Topology, Vertex

METRICS = (
    ScalingMetric.LOAD,
    ScalingMetric.TRUE_PROCESSING_RATE,
    ScalingMetric.TARGET_DATA_RATE,
    ScalingMetric.CATCH_UP_DATA_RATE,
    ScalingMetric.LAG,
    ScalingMetric.SCALE_UP_RATE_THRESHOLD,
    ScalingMetric.SCALE_DOWN_RATE_THRESHOLD,
)
"""The first columns of `Readout.numbers`; the needed capacity, the factor and whether it is outside follow."""

NO_LIMITS: Mapping[Reason, float] = {}


@dataclass(frozen=True, kw_only=True)
class Readout:
    """The numbers of a batch, a row a vertex."""

    batch: Batch
    evaluation: Evaluation

    @cached_property
    def numbers(self) -> Floats:
        """Shape (n, 10), columns as `METRICS` tells, NaN where nothing is known."""
        found = self.evaluation
        lag = np.where(self.batch.is_source, found.lag, np.nan)
        rates = (found.load, found.true_processing_rate, found.target_data_rate, found.catch_up_data_rate, lag)
        band = (found.scale_up_threshold, found.scale_down_threshold)
        return np.column_stack([*rates, *band, found.needed_capacity, found.factor, found.outside])

    @cached_property
    def limits(self) -> Mapping[int, Mapping[Reason, float]]:
        """What limits growth, by row; few rows have anything."""
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

    def backlog(self, jobs: int) -> Bools:
        """Tell which jobs (m,) have a vertex with a backlog."""
        behind: Bools = np.bincount(self.batch.job, weights=self.evaluation.backlog, minlength=jobs) > 0
        return behind

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


@dataclass(frozen=True, slots=True, eq=False)
class VertexRows(Mapping[VertexId, VertexMetrics]):
    """The metrics of one job's vertices, in topological order, made when somebody asks for them."""

    readout: Readout
    topology: Topology
    begin: int
    """Row of the first vertex."""

    def __repr__(self) -> str:
        """Show the metrics, not the arrays of the whole fleet."""
        return repr(dict(self.items()))

    def __len__(self) -> int:
        """Count the vertices."""
        return len(self.topology.vertices)

    def __iter__(self) -> Iterator[VertexId]:
        """Yield their ids."""
        return (vertex.id for vertex in self.topology.vertices)

    def __getitem__(self, vertex: VertexId) -> VertexMetrics:
        """Give the metrics of one vertex."""
        return dict(self.items())[vertex]

    def items(self) -> ItemsView[VertexId, VertexMetrics]:
        """Make the metrics of all vertices."""
        limits = self.readout.limits
        rows = zip(self.topology.vertices, self.numbers.tolist(), strict=True)
        made = (metrics_of(vertex, row, limits.get(at, NO_LIMITS)) for at, (vertex, row) in enumerate(rows, self.begin))
        return dict(zip(self, made, strict=True)).items()

    @property
    def numbers(self) -> Floats:
        """The job's rows of `Readout.numbers`."""
        return self.readout.numbers[self.begin : self.begin + len(self)]

    @property
    def is_limited(self) -> bool:
        """Whether something limits the growth of a vertex."""
        return any(row in self.readout.limits for row in range(self.begin, self.begin + len(self)))


def metrics_of(vertex: Vertex, numbers: Sequence[float], limits: Mapping[Reason, float] = NO_LIMITS) -> VertexMetrics:
    """Give the metrics of a vertex from its row of `Readout.numbers`; what could not be computed is absent."""
    *known, needed, factor, outside = numbers
    metrics = {metric: value for metric, value in zip(METRICS, known, strict=True) if not math.isnan(value)}
    metrics[ScalingMetric.PARALLELISM] = float(vertex.parallelism)
    metrics[ScalingMetric.MAX_PARALLELISM] = float(vertex.max_parallelism)
    metrics[ScalingMetric.NUM_SOURCE_PARTITIONS] = float(vertex.partitions or 0)
    return VertexMetrics(
        metrics=metrics,
        needed_capacity=None if math.isnan(needed) else needed,
        factor=None if math.isnan(factor) else factor,
        outside=bool(outside),
        limits=limits,
    )


def evaluated_vertices(jobs: Sequence[FleetJob], batch: Batch, evaluation: Evaluation) -> Sequence[VertexMetrics]:
    """Give the metrics of each row of the batch."""
    readout, found = Readout(batch=batch, evaluation=evaluation), list[VertexMetrics]()
    for job in jobs:
        found += VertexRows(readout, job.topology, len(found)).values()
    return found


def uncounted(batch: Batch) -> Bools:
    """Tell which vertices did not report what they read, or what they write although something reads it."""
    unread = np.isnan(rate(batch.windows[Measure.NUM_RECORDS_IN]))
    unwritten = np.isnan(rate(batch.windows[Measure.NUM_RECORDS_OUT]))
    has_output = np.bincount(batch.upstream, minlength=len(batch.job)) > 0
    return unread | (unwritten & has_output)


def _limits(evaluation: Evaluation) -> Mapping[int, Mapping[Reason, float]]:
    limits: dict[int, dict[Reason, float]] = {}
    for reason, values in (
        (Reason.SKEW, evaluation.skew_limit),
        (Reason.HOT_PARTITION, evaluation.partition_limit),
        (Reason.SATURATED, evaluation.saturation_limit),
        (Reason.DOWNSTREAM_LIMIT, evaluation.downstream_limit),
    ):
        for row in np.flatnonzero(np.isfinite(values)).tolist():
            limits.setdefault(row, {})[reason] = float(values[row])
    return limits
