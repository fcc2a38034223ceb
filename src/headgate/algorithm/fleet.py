"""From jobs and their reduced windows to the arrays of a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import chain

import numpy as np

from headgate.algorithm.batch import Batch, Tuning
from headgate.algorithm.columns import Columns, Table
from headgate.algorithm.epochs import combine
from headgate.algorithm.history import Growth
from headgate.algorithm.rules import rules_of
from headgate.algorithm.shape import Shape, shape_of
from headgate.algorithm.stats import Bools, Floats, Ints, WindowStats
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import Measure
from headgate.model.topology import Topology
from headgate.options.autoscaler import AutoscalerOptions, BusyTimeAggregator, ScalingSignal
from headgate.options.deviations import Deviation

Pairs = Mapping[int, tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetJob:
    """One job of a batch."""

    key: JobKey
    topology: Topology
    options: AutoscalerOptions
    growths: Mapping[VertexId, Growth] = field(default_factory=dict, hash=False)
    """The last growth of each vertex that had one to its running parallelism."""
    added: Mapping[VertexId, float] = field(default_factory=dict, hash=False)
    """Records/s that external metrics add to what comes into its sources."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What is known of vertices beside their windows, by row of the layout."""

    growths: Pairs = field(default_factory=dict)
    """True rate before the last growth to the running parallelism, and as expected of it."""
    added: Mapping[int, float] = field(default_factory=dict)
    """Records/s that external metrics add to what comes into a source."""
    expected: Pairs = field(default_factory=dict)
    """True rate that was expected of the last rescale, and how many samples it is worth."""
    arriving: Floats | None = None
    """(n,) records/s that come into a source since they changed last, NaN where not known; None: nowhere."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """
    The part of a batch that does not depend on samples: a row a vertex, in the order of the jobs and of their graphs.

    It stays the same from cycle to cycle for jobs that do.
    """

    shapes: tuple[Shape, ...]
    begins: Ints
    """(m,) first row of each job."""
    job: Ints
    level: Ints
    is_source: Bools
    finished: Bools
    parallelism: Floats
    ceiling: Floats
    upstream: Ints
    downstream: Ints
    broadcast: Bools
    tuning: Tuning

    def batch(self, windows: Columns, owner: Ints, beside: Beside) -> Batch:
        """
        Give the batch of these windows; a finished vertex reads and does nothing, whatever its window holds.

        Args:
            windows: reduced windows, one row a (vertex, epoch).
            owner: row of the vertex that each of them belongs to, -1 for one that is in no graph.
            beside: what else is known.
        """
        known: Ints = np.flatnonzero(owner >= 0)
        vertices = len(self.job)
        stats = combine(windows.rows(known), owner[known], vertices)
        before, hoped = _pairs(beside.growths, vertices)
        expected, worth = _pairs(beside.expected, vertices)
        extra = np.zeros(vertices)
        extra[list(beside.added)] = list(beside.added.values())
        return Batch(
            job=self.job,
            level=self.level,
            is_source=self.is_source,
            parallelism=self.parallelism,
            ceiling=self.ceiling,
            rate_before=before,
            rate_expected=hoped,
            added=extra,
            expected=expected,
            worth=worth,
            arriving=np.full(vertices, np.nan) if beside.arriving is None else beside.arriving,
            upstream=self.upstream,
            downstream=self.downstream,
            broadcast=self.broadcast,
            windows={measure: _rested(of_all, measure, self.finished) for measure, of_all in stats.items()},
            tuning=self.tuning,
        )


def lay_out(shapes: Sequence[Shape]) -> Layout:
    """Lay jobs out one behind the other."""
    sizes = np.array([len(shape.level) for shape in shapes], dtype=np.int64)
    begins = np.cumsum(sizes) - sizes
    offset = np.repeat(begins, [len(shape.upstream) for shape in shapes])
    return Layout(
        shapes=tuple(shapes),
        begins=begins,
        job=np.repeat(np.arange(len(shapes)), sizes),
        level=_flat(shape.level for shape in shapes),
        is_source=_flat(shape.level for shape in shapes) == 0,
        finished=_flat(shape.finished for shape in shapes) > 0,
        parallelism=_flat(shape.parallelism for shape in shapes).astype(np.float64),
        ceiling=_flat(shape.ceiling for shape in shapes).astype(np.float64),
        upstream=_flat(shape.upstream for shape in shapes) + offset,
        downstream=_flat(shape.downstream for shape in shapes) + offset,
        broadcast=_flat(shape.broadcast for shape in shapes) > 0,
        tuning=tuning([(shape.options, len(shape.level)) for shape in shapes]),
    )


def assemble(jobs: Sequence[FleetJob], windows: Table) -> Batch:
    """
    Lay jobs out as arrays: a row a vertex, jobs in the order given, vertices in topological order.

    Windows of vertices that are in no topology are left out.
    """
    vertices = [(job, vertex.id) for job in jobs for vertex in job.topology.vertices]
    row_of: dict[tuple[str, str], int] = {(str(job.key), vertex): row for row, (job, vertex) in enumerate(vertices)}
    grown = {row: job.growths[vertex] for row, (job, vertex) in enumerate(vertices) if vertex in job.growths}
    extra = {row: job.added[vertex] for row, (job, vertex) in enumerate(vertices) if vertex in job.added}
    layout = lay_out([shape_of(job.topology, job.options) for job in jobs])
    return layout.batch(windows, windows.owners(row_of), Beside(growths=grown, added=extra))


def tuning(options: Sequence[tuple[AutoscalerOptions, int]]) -> Tuning:
    """Give the options as arrays, each repeated for its number of vertices; durations in whole seconds."""
    # Most jobs share their options with many others.
    distinct = {id(each): each for each, _ in options}
    place_of = {name: place for place, name in enumerate(distinct)}
    repeats = np.array([vertices for _, vertices in options], dtype=np.int64)
    place = np.repeat(np.array([place_of[id(each)] for each, _ in options], dtype=np.int64), repeats)

    def column(value: Callable[[AutoscalerOptions], float]) -> Floats:
        return np.array([value(each) for each in distinct.values()], dtype=np.float64)[place]

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


def _pairs(by_row: Pairs, vertices: int) -> Floats:
    """Give both numbers of each vertex, (2, n); NaN where there are none."""
    numbers = np.full((2, vertices), np.nan)
    numbers[:, list(by_row)] = np.array(list(by_row.values()), dtype=np.float64).reshape(-1, 2).T
    return numbers


def _holds(rule: Deviation, options: AutoscalerOptions) -> bool:
    return rule in rules_of(options)


def _whole_seconds(duration: timedelta) -> int:
    return duration // timedelta(seconds=1)


def _flat(parts: Iterable[Sequence[int]]) -> Ints:
    return np.fromiter(chain.from_iterable(parts), dtype=np.int64)


def _rested(stats: WindowStats, measure: Measure, finished: Bools) -> WindowStats:
    """Let finished vertices stand at zero, but at an infinite observed rate, as in the reference."""
    if not finished.any():
        return stats
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
        infinite=np.where(finished, observed, stats.infinite),
    )
