"""A job's numbers are the same bytes alone and among others, in whatever order the jobs stand."""

from __future__ import annotations

import dataclasses
import random

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from headgate.algorithm.evaluate import evaluate
from headgate.algorithm.fleet import FleetJob, assemble
from headgate.algorithm.reduce import reduce_windows
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import Measure
from headgate.model.topology import Edge, ShipStrategy, Topology, Vertex
from headgate.options.autoscaler import AutoscalerOptions, BusyTimeAggregator
from headgate.testing.tables import Row, table_of

NAMES = [VertexId(name) for name in ("v0", "v1", "v2", "v3", "v4")]
Job = tuple[FleetJob, list[Row]]


@st.composite
def topologies(draw: st.DrawFn) -> Topology:
    """Draw a graph of up to five vertices; every edge leads from an earlier one to a later one."""
    names = NAMES[: draw(st.integers(1, len(NAMES)))]
    pairs = [(u, v) for i, u in enumerate(names) for v in names[i + 1 :]]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    ship = st.sampled_from([ShipStrategy.HASH, ShipStrategy.BROADCAST])
    return Topology(
        vertices=tuple(
            Vertex(id=name, name=name, parallelism=draw(st.integers(1, 9)), max_parallelism=128) for name in names
        ),
        edges=tuple(Edge(source=u, target=v, ship_strategy=draw(ship)) for u, v in chosen),
    )


@st.composite
def jobs(draw: st.DrawFn, name: str) -> Job:
    """Draw a job with a few samples of each vertex, values missing here and there."""
    key = JobKey("c", name)
    options = AutoscalerOptions(busy_time_aggregator=draw(st.sampled_from(BusyTimeAggregator)))
    topology = draw(topologies())
    value = st.integers(0, 10**7).map(lambda n: n / 1000)
    measured = st.dictionaries(st.sampled_from(Measure), value)
    rows = [
        Row(job=str(key), vertex=vertex.id, at_ms=tick * 10_000, epoch=tick // 3, values=draw(measured))
        for vertex in topology.vertices
        for tick in range(draw(st.integers(0, 4)))
    ]
    return FleetJob(key=key, topology=topology, options=options), rows


def _bytes(job: FleetJob, batch_jobs: list[Job]) -> list[bytes]:
    """Give the bytes of one job's numbers, evaluated among all."""
    order = [each for each, _ in batch_jobs]
    begin = sum(len(each.topology.vertices) for each in order[: order.index(job)])
    window = table_of([row for _, rows in batch_jobs for row in rows])
    found = evaluate(assemble(order, reduce_windows(window)))
    arrays = (getattr(found, field.name) for field in dataclasses.fields(found))
    return [np.ascontiguousarray(a[begin : begin + len(job.topology.vertices)]).tobytes() for a in arrays]


@given(fleet=st.tuples(jobs("a"), jobs("b"), jobs("c")), seed=st.randoms(use_true_random=False))
def test_a_batch_of_one_is_a_batch_of_many(fleet: tuple[Job, ...], seed: random.Random) -> None:
    """Neither the other jobs nor their order change a bit of a job's evaluation."""
    shuffled = seed.sample(fleet, len(fleet))

    for job in fleet:
        assert _bytes(job[0], shuffled) == _bytes(job[0], [job])
