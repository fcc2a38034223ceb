"""The queries of an application, each a connected part of its graph, and what its samples tell of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from headgate.algorithm.micro_batch.arrivals import arrival_rate
from headgate.algorithm.rates import MILLIS
from headgate.algorithm.series import gauge
from headgate.model.identity import VertexId
from headgate.model.lag import LagOrigin
from headgate.model.measures import Measure
from headgate.model.samples import JobSample
from headgate.model.topology import Topology, Vertex


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One query as the samples of a window tell of it; NaN is unknown."""

    stages: tuple[Vertex, ...]
    """In the order in which they run."""
    rate: float
    """Rows/s that come to it."""
    lag: float
    """Rows waiting behind those that the latest batch read."""
    lag_origin: LagOrigin
    batch_s: float
    """Seconds that the latest batch took; 0 when none ended."""
    load: float
    """Share of the time, 0 to 1, that batches take in the middle of the window."""
    samples: int
    """Ticks at which it was measured."""

    @property
    def name(self) -> str:
        """Its name: that of its stages without what tells them apart."""
        return self.stages[0].name.rpartition(": ")[0] if len(self.stages) > 1 else self.stages[0].name

    @property
    def is_idle(self) -> bool:
        """Whether nothing comes to it, and nothing waits that is known of: what a batch costs does not matter then."""
        return self.rate == 0 and not self.lag > 0

    @property
    def is_blind(self) -> bool:
        """Whether nobody can tell what comes to it, or what waits: such a query never shrinks."""
        return math.isnan(self.rate) or math.isnan(self.lag) or self.lag_origin is LagOrigin.UNKNOWN


def queries(topology: Topology, samples: Sequence[JobSample]) -> tuple[Query, ...]:
    """Give the queries of an application that still run, by the samples of its window, oldest first, one at least."""
    return tuple(_query(stages, samples) for stages in components(topology))


def _query(stages: tuple[Vertex, ...], samples: Sequence[JobSample]) -> Query:
    seen = [sample.vertices.get(stages[0].id) for sample in samples]
    latest = latest_of(stages[0].id, samples)
    loads = gauge(seen, Measure.LOAD)
    return Query(
        stages=stages,
        rate=arrival_rate(seen),
        lag=latest.get(Measure.LAG, math.nan),
        lag_origin=LagOrigin(int(latest.get(Measure.LAG_ORIGIN, LagOrigin.UNKNOWN))),
        batch_s=latest.get(Measure.BATCH_DURATION, 0.0) / MILLIS,
        load=math.nan if np.isnan(loads).all() else float(np.nanmedian(loads)),
        samples=sum(each is not None for each in seen),
    )


def latest_of(vertex: VertexId, samples: Sequence[JobSample]) -> Mapping[Measure, float]:
    """Give what was last measured of a vertex: nothing new is told of it until another batch has ended."""
    measured = (sample.vertices[vertex].values for sample in reversed(samples) if vertex in sample.vertices)
    return next(measured, {})


def components(topology: Topology) -> tuple[tuple[Vertex, ...], ...]:
    """Give the connected parts of a graph, in topological order, without the vertices that have finished."""
    part = {vertex.id: {vertex.id} for vertex in topology.vertices}
    for edge in topology.edges:
        joined = part[edge.source] | part[edge.target]
        part |= dict.fromkeys(joined, joined)
    distinct: dict[VertexId, set[VertexId]] = {min(members): members for members in part.values()}
    live = (tuple(v for v in topology.vertices if v.id in members and not v.finished) for members in distinct.values())
    return tuple(stages for stages in live if stages)
