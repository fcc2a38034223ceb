"""Builders of values for tests: say what matters, the rest is plausible."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobStatus
from headgate.model.metrics import EvaluatedMetrics, ScalingMetric, VertexMetrics
from headgate.model.samples import EngineSettings, JobSample, VertexSample
from headgate.model.topology import Edge, ShipStrategy, Topology, Vertex
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import JobContext

START = datetime(2026, 1, 1, tzinfo=UTC)
"""When stories begin."""

ORDERS = JobKey("prod", "orders")
"""The job of most stories."""


def at(seconds: float) -> datetime:
    """Give the instant so many seconds into the story."""
    return START + timedelta(seconds=seconds)


def chain(parallelism: Mapping[str, int], *, max_parallelism: int = 128) -> Topology:
    """Build a graph without branches, in the given order; a vertex's id is its name."""
    names = [VertexId(name) for name in parallelism]
    return Topology(
        vertices=tuple(
            Vertex(id=name, name=name, parallelism=parallelism[name], max_parallelism=max_parallelism) for name in names
        ),
        edges=tuple(
            Edge(source=upstream, target=downstream, ship_strategy=ShipStrategy.HASH)
            for upstream, downstream in itertools.pairwise(names)
        ),
    )


def sample(
    topology: Topology,
    *,
    job: JobKey = ORDERS,
    tick: datetime = START,
    job_id: str = "j1",
    running_since: datetime = START,
    settings: EngineSettings | None = None,
) -> JobSample:
    """Build a sample of a job whose vertices were all measured at the tick, with no values."""
    return JobSample(
        job=job,
        at=tick,
        job_id=job_id,
        running_since=running_since,
        topology=topology,
        vertices={vertex.id: VertexSample(measured_at=tick) for vertex in topology.vertices},
        settings=settings or EngineSettings(checkpoint_interval_s=10.0),
    )


def context(
    job: JobKey = ORDERS,
    *,
    job_id: str = "j1",
    status: JobStatus = JobStatus.RUNNING,
    options: AutoscalerOptions | None = None,
) -> JobContext:
    """Build a running job with default options."""
    return JobContext(key=job, job_id=job_id, status=status, options=options or AutoscalerOptions())


def evaluated(topology: Topology, factors: Mapping[str, float], *, backlog: bool = False) -> EvaluatedMetrics:
    """
    Build evaluated metrics in which each vertex needs `factor` times its capacity.

    A vertex not named is balanced; one whose factor is not 1 lies outside its band.
    """
    return EvaluatedMetrics(
        vertices={vertex.id: _vertex_metrics(vertex, factors.get(vertex.name, 1.0)) for vertex in topology.vertices},
        backlog=backlog,
        coverage=1.0,
        samples=10,
    )


def _vertex_metrics(vertex: Vertex, factor: float) -> VertexMetrics:
    rate = 100.0 * vertex.parallelism
    return VertexMetrics(
        metrics={
            ScalingMetric.TRUE_PROCESSING_RATE: rate,
            ScalingMetric.TARGET_DATA_RATE: 0.7 * factor * rate,
            ScalingMetric.PARALLELISM: vertex.parallelism,
            ScalingMetric.MAX_PARALLELISM: vertex.max_parallelism,
        },
        needed_capacity=factor * rate,
        factor=factor,
        outside=factor != 1.0,
    )
