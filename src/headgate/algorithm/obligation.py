"""
What a job owes its users, and how far it is from it: what waits for each vertex, and what each could do.

It is the job's as a whole, so all of its vertices are looked at together, once a decision. Everything is held against
the upper end of the predicted downtime. Source: Varga, Balassi and Kiss 2021.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from headgate.algorithm.bounds import room_of
from headgate.algorithm.history import History, restart_time, scalings_of
from headgate.algorithm.policies import is_held, scaled
from headgate.algorithm.scalability import exponent_of, outlook_of, share_of
from headgate.algorithm.sla import Load, carried, lag_time_s
from headgate.algorithm.wording import span
from headgate.model.decision import Proposal
from headgate.model.downtime import Downtime
from headgate.model.forecast import Forecast
from headgate.model.identity import VertexId
from headgate.model.metrics import EvaluatedMetrics, ScalingMetric, VertexMetrics
from headgate.model.state import UNSEEN, JobState
from headgate.model.topology import Topology, Vertex
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.sla import SlaOptions

Parallelism = Mapping[VertexId, int]


@dataclass(frozen=True, kw_only=True)
class Owed:
    """What a job owes, and what it can do for that."""

    sla: SlaOptions
    within_s: float
    """By when a backlog must be worked off."""
    downtime: Downtime
    lag_time_s: float
    """Age of the oldest record that waits in any source; 0 where none tells its lag."""
    lag_known: bool
    """Whether any source that still runs tells its lag."""
    loads: Mapping[VertexId, Load]
    """Of the vertices whose numbers are known."""

    @cached_property
    def high_s(self) -> float:
        """How long a rescale may stop the job."""
        return self.downtime.high.total_seconds()

    def least(self, load: Load) -> int:
        """Give the least parallelism at which a vertex recovers in time from a rescale."""
        return load.least_in_time(self.high_s, self.within_s)

    def asks(self, vertex: VertexId) -> bool:
        """Tell whether a vertex would have to be larger than it is to recover in time from a rescale."""
        load = self.loads.get(vertex)
        return load is not None and self.least(load) > load.parallelism

    def recovery_s(self, parallelism: Parallelism, downtime_s: float) -> float:
        """Give how long the job takes to be level again: as long as its slowest vertex."""
        return max((each.recovery_s(parallelism[v], downtime_s) for v, each in self.loads.items()), default=0.0)

    @cached_property
    def is_due(self) -> bool:
        """Tell whether the time to recover counts now: it is agreed, or the lag is too old or will be."""
        if self.sla.recovery_time is not None or self.sla.max_lag_time is None:
            return True
        too_old = self.lag_time_s > self.sla.max_lag_time.total_seconds()
        return too_old or any(load.capacity < load.rate for load in self.loads.values())

    def is_late(self, load: Load) -> bool:
        """Tell whether a vertex does not recover in time as it runs."""
        return load.recovery_s(load.parallelism, 0.0) > self.within_s

    def growth_helps(self, load: Load) -> bool:
        """Tell whether a late vertex recovers sooner by a rescale, and none that is in time becomes as late for it."""
        now = load.recovery_s(load.parallelism, 0.0)
        return self._at_best(load) < now and self._punctual_at_best <= now

    @cached_property
    def _punctual_at_best(self) -> float:
        """How long a rescale makes those take that are in time without."""
        return max((self._at_best(each) for each in self.loads.values() if not self.is_late(each)), default=0.0)

    def _at_best(self, load: Load) -> float:
        """Give how long a vertex takes to recover from a rescale, as large as is needed and allowed."""
        return load.recovery_s(max(min(self.least(load), load.most), load.parallelism), self.high_s)

    @cached_property
    def why_large(self) -> str:
        """Say why nothing may shrink now; empty where it may."""
        allowed = self.sla.max_lag_time
        if allowed is not None and self.lag_time_s + self.high_s > allowed.total_seconds():
            behind = span(self.lag_time_s + self.high_s)
            return f"a rescale of up to {span(self.high_s)} would leave it {behind} behind, {span(allowed)} are agreed"
        short = next((each for vertex, each in self.loads.items() if self.asks(vertex)), None)
        if short is None:
            return ""
        return (
            f"{short.name} would need {self.least(short)} to recover within {span(self.within_s)} "
            f"from a rescale of up to {span(self.high_s)}"
        )

    def forecast(self, plan: tuple[Proposal, ...], *, rescales: bool) -> Forecast:
        """Tell what becomes of the job if it runs as planned, or if it is left as it is."""
        parallelism = {each.vertex: each.wanted if rescales else each.current for each in plan}
        return Forecast(
            downtime=self.downtime,
            rescales=rescales,
            lag_time_s=self.lag_time_s,
            lag_known=self.lag_known,
            recovery_s=self.recovery_s(parallelism, self.high_s if rescales else 0.0),
            max_lag_time=self.sla.max_lag_time,
            recovery_time=self.sla.recovery_time,
        )


def owed_by(
    topology: Topology,
    evaluated: EvaluatedMetrics,
    options: AutoscalerOptions,
    now: datetime,
    state: JobState = UNSEEN,
) -> Owed | None:
    """Give what a job owes; None where nothing is agreed."""
    within = options.sla.within
    if within is None:
        return None
    rates, lags = (_known(metric, evaluated) for metric in (ScalingMetric.TARGET_DATA_RATE, ScalingMetric.LAG))
    waiting = carried(topology, rates, lags)

    def load(vertex: Vertex, metrics: VertexMetrics) -> Load:
        scalings = scalings_of(vertex.id, state.history)
        room = room_of(state.bounds, vertex.id, vertex.parallelism, now)
        return Load(
            name=vertex.name,
            parallelism=vertex.parallelism,
            most=min(_most(vertex, metrics, options), room.most),
            capacity=metrics.metrics[ScalingMetric.TRUE_PROCESSING_RATE],
            rate=rates.get(vertex.id, 0.0),
            lag=waiting[vertex.id],
            exponent=exponent_of(outlook_of(vertex.parallelism, metrics, scalings, options)),
            share=share_of(scalings, options),
        )

    sources = [vertex.id for vertex in topology.vertices if topology.is_source(vertex.id) and not vertex.finished]
    telling = [source for source in sources if source in lags]
    return Owed(
        sla=options.sla,
        within_s=within.total_seconds(),
        downtime=downtime_of(evaluated, options, state.history),
        lag_time_s=max((lag_time_s(lags[source], rates.get(source, 0.0)) for source in telling), default=0.0),
        lag_known=bool(telling) or not sources,
        loads={v.id: load(v, evaluated.vertices[v.id]) for v in topology.vertices if _is_measured(v, evaluated)},
    )


def downtime_of(evaluated: EvaluatedMetrics, options: AutoscalerOptions, history: History) -> Downtime:
    """Give how long a rescale is predicted to stop a job: as learnt, else as tracked, else as `restart.time` says."""
    if evaluated.downtime is not None:
        return evaluated.downtime
    fixed = restart_time(options, history)
    source = "restart.time" if fixed == options.restart_time else "the longest tracked restart"
    return Downtime(expected=fixed, low=fixed, high=fixed, basis=f"{source}, nothing was learnt")


def _known(metric: ScalingMetric, evaluated: EvaluatedMetrics) -> dict[VertexId, float]:
    """Give a metric of the vertices of which it can be reckoned with."""
    values = {vertex: known.metrics.get(metric, math.nan) for vertex, known in evaluated.vertices.items()}
    return {vertex: value for vertex, value in values.items() if math.isfinite(value)}


def _is_measured(vertex: Vertex, evaluated: EvaluatedMetrics) -> bool:
    known = evaluated.vertices.get(vertex.id)
    if known is None or known.factor is None or vertex.finished:
        return False
    return 0 < known.metrics.get(ScalingMetric.TRUE_PROCESSING_RATE, math.nan) < math.inf


def _most(vertex: Vertex, metrics: VertexMetrics, options: AutoscalerOptions) -> int:
    """Give the largest parallelism that a vertex may have next, by the bounds that come after the agreement."""
    if is_held(vertex, options):
        return vertex.parallelism
    step = min([1 + options.scale_up_max_factor, *metrics.limits.values()])
    return max(vertex.parallelism, min(options.max_parallelism, vertex.largest, scaled(vertex.parallelism, step)))
