"""Jobs whose sources tell what they read, as samples, as the fleet's tables, and as its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from headgate.algorithm.arrival.fleet import FleetArrivals, Series, fleet_arrivals
from headgate.algorithm.columns import stacked
from headgate.algorithm.fleet import lay_out
from headgate.algorithm.shape import shape_of
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import Measure
from headgate.model.samples import JobSample, VertexSample
from headgate.model.topology import Topology, Vertex
from headgate.options.autoscaler import AutoscalerOptions
from headgate.pipeline.arrow import columns
from headgate.samplelog.rows import sample_table
from headgate.testing.builders import ORDERS, at, sample

Rate = Callable[[float], float]
"""Records/s at a second of the story."""


def steady(rate: float) -> Rate:
    """Let so much come in all the time."""
    return lambda _: rate


def stepping(before: float, after: float, *, at_s: float) -> Rate:
    """Let another rate come in from a second on."""
    return lambda second: before if second < at_s else after


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """A job of sources beside each other, looked at every two seconds."""

    sources: Mapping[str, Rate]
    job: JobKey = ORDERS
    finished: frozenset[str] = field(default=frozenset())

    @property
    def topology(self) -> Topology:
        """Sources in the order in which they are named."""
        vertices = (
            Vertex(id=VertexId(name), name=name, parallelism=1, max_parallelism=8, finished=name in self.finished)
            for name in self.sources
        )
        return Topology(vertices=tuple(vertices))

    def samples(self, until_s: int) -> list[JobSample]:
        """Look at the job until a second, this included."""
        read = dict.fromkeys(self.sources, 1.0)
        seen: list[JobSample] = []
        for second in range(0, until_s + 1, 2):
            seen.append(self._sample(second, read))
            read = {name: count + 2 * self.sources[name](second) for name, count in read.items()}
        return seen

    def _sample(self, second: int, read: Mapping[str, float]) -> JobSample:
        told = {
            VertexId(name): VertexSample(measured_at=at(second), values={Measure.NUM_RECORDS_IN: count})
            for name, count in read.items()
        }
        return replace(sample(self.topology, job=self.job, tick=at(second)), vertices=told)


def answered(stories: Sequence[Story], until_s: int, *, fast: Sequence[bool] | None = None) -> FleetArrivals:
    """Give what the fleet tells of jobs at a second, all of them going by it unless told otherwise."""
    layout = lay_out([shape_of(story.topology, AutoscalerOptions()) for story in stories])
    vertices = [(str(story.job), vertex.id) for story in stories for vertex in story.topology.vertices]
    row_of = {vertex: row for row, vertex in enumerate(vertices)}
    tables = [sample_table(story.samples(until_s)) for story in stories]
    owners = [row_of[owner] for table in tables for owner in _owners(table)]
    series = Series(columns=stacked([columns(table) for table in tables]), owner=np.array(owners, dtype=np.int64))
    by_change = np.array([True] * len(stories) if fast is None else fast, dtype=np.bool_)
    return fleet_arrivals(layout, by_change, series)


def _owners(table: pa.Table) -> Iterator[tuple[str, VertexId]]:
    return zip(table["job"].to_pylist(), table["vertex"].to_pylist(), strict=True)
