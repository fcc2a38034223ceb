"""Jobs laid out as the arrays of a batch."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta

import numpy as np

from headgate.algorithm.evaluate import evaluate
from headgate.algorithm.fleet import FleetJob, assemble, tuning
from headgate.algorithm.reduce import reduce_windows
from headgate.algorithm.shape import levels
from headgate.model.identity import JobKey, VertexId
from headgate.model.topology import Edge, ShipStrategy, Topology, Vertex
from headgate.options.autoscaler import AutoscalerOptions, BusyTimeAggregator
from headgate.testing.builders import ORDERS, chain
from headgate.testing.tables import steady, table_of

DIAMOND = Topology(
    vertices=tuple(Vertex(id=VertexId(v), name=v, parallelism=2, max_parallelism=8) for v in ("out", "b", "a", "in")),
    edges=(
        Edge(source=VertexId("in"), target=VertexId("out"), ship_strategy=ShipStrategy.BROADCAST),
        Edge(source=VertexId("in"), target=VertexId("a")),
        Edge(source=VertexId("a"), target=VertexId("b")),
        Edge(source=VertexId("b"), target=VertexId("out")),
    ),
)


def test_a_level_is_the_longest_way() -> None:
    """The end of the diamond waits for its longer side."""
    assert dict(zip([v.name for v in DIAMOND.vertices], levels(DIAMOND), strict=True)) == {
        "in": 0,
        "a": 1,
        "b": 2,
        "out": 3,
    }


def test_jobs_stand_one_behind_the_other() -> None:
    """Rows of a job stand together, edges point to rows, a broadcast is marked."""
    jobs = [
        FleetJob(key=JobKey("c", name), topology=graph, options=AutoscalerOptions())
        for name, graph in (("one", chain({"x": 1, "y": 3})), ("two", DIAMOND))
    ]

    batch = assemble(jobs, reduce_windows(table_of([])))

    assert batch.job.tolist() == [0, 0, 1, 1, 1, 1]
    assert batch.is_source.tolist() == [True, False, True, False, False, False]
    assert batch.parallelism.tolist() == [1, 3, 2, 2, 2, 2]
    assert list(zip(batch.upstream.tolist(), batch.downstream.tolist(), batch.broadcast.tolist(), strict=True)) == [
        (0, 1, False),
        (2, 3, False),
        (3, 4, False),
        (2, 5, True),
        (4, 5, False),
    ]


def test_windows_of_vertices_that_are_gone_are_left_out() -> None:
    """The graph changed since: what belonged to it no longer counts."""
    job = FleetJob(key=ORDERS, topology=chain({"in": 1}), options=AutoscalerOptions())

    found = evaluate(assemble([job], reduce_windows(table_of(steady("gone", read=7) + steady("in", read=5)))))

    assert found.target_data_rate.tolist() == [5]


def test_a_finished_vertex_does_nothing() -> None:
    """It has no samples any more, yet the job is evaluated: nothing comes from it and it could do anything."""
    two = Topology(
        vertices=tuple(
            Vertex(id=VertexId(v), name=v, parallelism=1, max_parallelism=8, finished=v == "done")
            for v in ("done", "live", "out")
        ),
        edges=tuple(Edge(source=VertexId(v), target=VertexId("out")) for v in ("done", "live")),
    )
    job = FleetJob(key=ORDERS, topology=two, options=AutoscalerOptions())
    rows = steady("live", read=100, written=100) + steady("out", read=100)

    found = evaluate(assemble([job], reduce_windows(table_of(rows))))

    by_name = dict(zip([v.name for v in two.vertices], found.target_data_rate.tolist(), strict=True))
    assert by_name == {"done": 0, "live": 100, "out": 100}
    assert found.true_processing_rate[[v.name for v in two.vertices].index("done")] == math.inf


def test_options_become_columns() -> None:
    """One value a vertex; seconds are whole, the band follows from target and boundary where it is not set."""
    first = AutoscalerOptions(catch_up_duration=timedelta(seconds=1.9), utilization_max=0.9)
    second = replace(AutoscalerOptions(), busy_time_aggregator=BusyTimeAggregator.AVG)

    columns = tuning([(first, 1), (second, 2)])

    assert columns.catch_up_s.tolist() == [1, 1800, 1800]
    assert columns.busy_average.tolist() == [False, True, True]
    assert np.allclose(columns.utilization_max, [0.9, 1.0, 1.0])
    assert np.allclose(columns.utilization_min, 0.4)
