"""From jobs and their reduced windows to the arrays of a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

import numpy as np

from headgate.algorithm.batch import Batch, Tuning
from headgate.algorithm.columns import Table
from headgate.algorithm.epochs import combine
from headgate.algorithm.history import NO_GROWTH, Growth
from headgate.algorithm.rules import rules_of
from headgate.algorithm.stats import Bools, Floats, Ints, WindowStats
from headgate.model.identity import JobKey, VertexId
from headgate.model.samples import Measure
from headgate.model.topology import ShipStrategy, Topology, Vertex
from headgate.options.autoscaler import AutoscalerOptions, BusyTimeAggregator, ScalingSignal
from headgate.options.deviations import Deviation


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetJob:
    """One job of a batch, found ready."""

    key: JobKey
    topology: Topology
    options: AutoscalerOptions
    coverage: float = 1.0
    """How much of the metric window the samples span, 0 to 1."""
    samples: int = 0
    """Least number of samples behind any vertex."""
    growths: Mapping[VertexId, Growth] = field(default_factory=dict, hash=False)
    """The last growth of each vertex that had one to its running parallelism."""


def assemble(jobs: Sequence[FleetJob], windows: Table) -> Batch:
    """
    Lay jobs out as arrays: a row a vertex, jobs in the order given, vertices in topological order.

    Windows of vertices that are in no topology are left out. A finished vertex reads and does nothing, whatever its
    window holds.
    """
    vertices = [(job, vertex) for job in jobs for vertex in job.topology.vertices]
    row_of = {(str(job.key), vertex.id): row for row, (job, vertex) in enumerate(vertices)}
    edges = sorted(
        (row_of[str(job.key), edge.target], row_of[str(job.key), edge.source], edge.ship_strategy)
        for job in jobs
        for edge in job.topology.edges
    )
    is_source = np.array([job.topology.is_source(vertex.id) for job, vertex in vertices], dtype=np.bool_)
    finished = np.array([vertex.finished for _, vertex in vertices], dtype=np.bool_)
    growths = [job.growths.get(vertex.id, NO_GROWTH) for job, vertex in vertices]
    stats = _stats(windows, row_of)
    return Batch(
        job=np.array([number for number, job in enumerate(jobs) for _ in job.topology.vertices], dtype=np.int64),
        level=np.array([level for job in jobs for level in levels(job.topology)], dtype=np.int64),
        is_source=is_source,
        parallelism=np.array([vertex.parallelism for _, vertex in vertices], dtype=np.float64),
        ceiling=np.array([_ceiling(vertex, job.options) for job, vertex in vertices], dtype=np.float64),
        rate_before=np.array([before for before, _ in growths], dtype=np.float64),
        rate_expected=np.array([expected for _, expected in growths], dtype=np.float64),
        upstream=np.array([source for _, source, _ in edges], dtype=np.int64),
        downstream=np.array([target for target, _, _ in edges], dtype=np.int64),
        broadcast=np.array([ship is ShipStrategy.BROADCAST for _, _, ship in edges], dtype=np.bool_),
        windows={measure: _rested(stats[measure], measure, finished) for measure in Measure},
        tuning=tuning([(job.options, len(job.topology.vertices)) for job in jobs]),
    )


def levels(topology: Topology) -> tuple[int, ...]:
    """Give the longest way from a source to each vertex, in topological order; 0 for a source."""
    level: dict[VertexId, int] = {}
    for vertex in topology.vertices:
        level[vertex.id] = max((level[edge.source] + 1 for edge in topology.inputs[vertex.id]), default=0)
    return tuple(level.values())


def tuning(options: Sequence[tuple[AutoscalerOptions, int]]) -> Tuning:
    """Give the options as arrays, each repeated for its number of vertices; durations in whole seconds."""
    repeats = np.array([vertices for _, vertices in options], dtype=np.int64)

    def column(value: Callable[[AutoscalerOptions], float]) -> Floats:
        return np.repeat(np.array([value(each) for each, _ in options], dtype=np.float64), repeats)

    return Tuning(
        utilization_target=column(lambda o: o.utilization_target),
        utilization_min=column(lambda o: o.utilization_band[0]),
        utilization_max=column(lambda o: o.utilization_band[1]),
        catch_up_s=column(lambda o: _whole_seconds(o.catch_up_duration)),
        restart_s=column(lambda o: _whole_seconds(o.restart_time)),
        backlog_threshold_s=column(lambda o: _whole_seconds(o.backlog_lag_threshold)),
        observed_switch_threshold=column(lambda o: o.observed_tpr_switch_threshold),
        observed_min_observations=column(lambda o: o.observed_tpr_min_observations),
        busy_average=column(lambda o: o.busy_time_aggregator is BusyTimeAggregator.AVG) > 0,
        busy_only=column(lambda o: o.scaling_signal is ScalingSignal.BUSY_TIME) > 0,
        effectiveness_threshold=column(lambda o: o.effectiveness_threshold),
        rules={rule: column(partial(_holds, rule)) > 0 for rule in Deviation},
    )


def _ceiling(vertex: Vertex, options: AutoscalerOptions) -> int:
    """Give the largest parallelism that a vertex may grow to, its running one at least."""
    if vertex.finished or vertex.id in options.vertex_exclude_ids:
        return vertex.parallelism
    most = min(options.max_parallelism, vertex.max_parallelism, vertex.partitions or vertex.max_parallelism)
    return max(vertex.parallelism, most)


def _holds(rule: Deviation, options: AutoscalerOptions) -> bool:
    return rule in rules_of(options)


def _whole_seconds(duration: timedelta) -> int:
    return duration // timedelta(seconds=1)


def _stats(windows: Table, row_of: Mapping[tuple[str, VertexId], int]) -> Mapping[Measure, WindowStats]:
    keys = zip(windows.job.tolist(), windows.vertex.tolist(), strict=True)
    owner = np.array([row_of.get(key, -1) for key in keys], dtype=np.int64)
    known: Ints = np.flatnonzero(owner >= 0)
    return combine(windows.take(known), owner[known], len(row_of))


def _rested(stats: WindowStats, measure: Measure, finished: Bools) -> WindowStats:
    """Let finished vertices stand at zero, but at an infinite observed rate, as in the reference."""
    observed = measure is Measure.OBSERVED_TPR

    def rested(values: Floats) -> Floats:
        return np.where(finished, 0.0, values)

    return WindowStats(
        first=rested(stats.first),
        last=rested(stats.last),
        increase=rested(stats.increase),
        elapsed_ms=rested(stats.elapsed_ms),
        total=rested(stats.total),
        count=np.where(finished, 0.0 if observed else 1.0, stats.count),
        maximum=rested(stats.maximum),
        infinite=np.where(finished, observed, stats.infinite),
    )
