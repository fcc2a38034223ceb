"""The queries of an application, each a connected part of its graph, and what its samples tell of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headgate.algorithm.micro_batch.arrivals import Arrivals, arrivals
from headgate.algorithm.series import gauge, ticks
from headgate.model.identity import VertexId
from headgate.model.measures import Measure
from headgate.model.micro_batch import LagOrigin
from headgate.model.samples import JobSample
from headgate.model.topology import Topology, Vertex


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One query as the samples of a window tell of it; NaN is unknown."""

    stages: tuple[Vertex, ...]
    """In the order in which they run."""
    arrivals: Arrivals
    lag: float
    """Rows waiting, at the end of the latest batch."""
    lag_origin: LagOrigin
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
        """Whether nothing comes to it, and nothing waits."""
        return self.arrivals.rate == 0 and self.lag == 0

    @property
    def is_blind(self) -> bool:
        """Whether nobody can tell what comes to it, or what waits: such a query never shrinks."""
        return math.isnan(self.arrivals.rate) or math.isnan(self.lag) or self.lag_origin is LagOrigin.UNKNOWN


def queries(topology: Topology, samples: Sequence[JobSample]) -> tuple[Query, ...]:
    """Give the queries of an application that still run, by the samples of its window, oldest first, one at least."""
    at_s = ticks(samples)
    found = []
    for stages in components(topology):
        seen = [sample.vertices.get(stages[0].id) for sample in samples]
        latest = next((each.values for each in reversed(seen) if each is not None), {})
        loads = gauge(seen, Measure.LOAD)
        query = Query(
            stages=stages,
            arrivals=arrivals(seen, at_s),
            lag=latest.get(Measure.LAG, math.nan),
            lag_origin=LagOrigin(int(latest.get(Measure.LAG_ORIGIN, LagOrigin.UNKNOWN))),
            load=math.nan if np.isnan(loads).all() else float(np.nanmedian(loads)),
            samples=sum(each is not None for each in seen),
        )
        found.append(query)
    return tuple(found)


def components(topology: Topology) -> tuple[tuple[Vertex, ...], ...]:
    """Give the connected parts of a graph, in topological order, without the vertices that have finished."""
    part = {vertex.id: {vertex.id} for vertex in topology.vertices}
    for edge in topology.edges:
        joined = part[edge.source] | part[edge.target]
        part |= dict.fromkeys(joined, joined)
    distinct: dict[VertexId, set[VertexId]] = {min(members): members for members in part.values()}
    live = (tuple(v for v in topology.vertices if v.id in members and not v.finished) for members in distinct.values())
    return tuple(stages for stages in live if stages)
