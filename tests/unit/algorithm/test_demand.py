"""The demand of every vertex, from the sources through the graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from headgate.algorithm.demand import backlog, demand
from headgate.algorithm.edges import output_ratios
from headgate.algorithm.fleet import FleetJob, assemble
from headgate.algorithm.reduce import reduce_windows
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import Measure
from headgate.model.topology import Edge, Topology, Vertex
from headgate.options.autoscaler import AutoscalerOptions
from headgate.testing.builders import ORDERS, chain
from headgate.testing.tables import Row, steady, table_of


def _demands(
    job: FleetJob, rows: list[Row], others: Mapping[FleetJob, list[Row]] | None = None
) -> Mapping[VertexId, tuple[float, float]]:
    """Give target and catch-up rate of each vertex of the job, in a batch with others."""
    everything = {job: rows, **(others or {})}
    batch = assemble(list(everything), reduce_windows(table_of([row for each in everything.values() for row in each])))
    found = demand(batch, output_ratios(batch))
    ids = [vertex.id for vertex in job.topology.vertices]
    return dict(zip(ids, zip(found.target.tolist(), found.catch_up.tolist(), strict=False), strict=False))


def _job(topology: Topology, options: AutoscalerOptions | None = None, key: JobKey = ORDERS) -> FleetJob:
    return FleetJob(key=key, topology=topology, options=options or AutoscalerOptions())


def test_growing_lag_is_input() -> None:
    """A source that reads 100/s while its lag grows by 50/s has 150/s coming in, and so has what follows."""
    rows = steady("in", read=100, written=200, lag=(0, 3000)) + steady("out", read=200)

    demands = _demands(_job(chain({"in": 1, "out": 1})), rows)

    assert [demands[VertexId(v)][0] for v in ("in", "out")] == [150, 300]


def test_shrinking_lag_is_not() -> None:
    """A source that works off its lag reads more than comes in; less than nothing cannot come in."""
    assert _demands(_job(chain({"in": 1})), steady("in", read=100, lag=(3000, 0)))[VertexId("in")][0] == 50
    assert _demands(_job(chain({"in": 1})), steady("in", read=10, lag=(3000, 0)))[VertexId("in")][0] == 0


def test_lag_is_caught_up_within_the_duration() -> None:
    """1800 records within the default 30 minutes are 1/s, times the output ratio behind the source."""
    rows = steady("in", read=100, written=200, lag=(1800, 1800)) + steady("out", read=200)

    demands = _demands(_job(chain({"in": 1, "out": 1})), rows)

    assert [demands[VertexId(v)][1] for v in ("in", "out")] == [1, 2]


def test_no_catching_up_when_it_is_off() -> None:
    """A catch-up duration of 0 ignores the lag."""
    options = AutoscalerOptions(catch_up_duration=timedelta())
    rows = steady("in", read=100, lag=(1800, 1800))

    assert _demands(_job(chain({"in": 1}), options), rows)[VertexId("in")] == (100, 0)


def test_a_source_without_lag_reads_what_comes() -> None:
    """A connector that reports no lag counts as having none."""
    assert _demands(_job(chain({"in": 1})), steady("in", read=100))[VertexId("in")] == (100, 0)


def test_rates_are_rounded_on_their_way() -> None:
    """A third of a record a second is 0.333/s before it is carried on, so three times that is not 1/s."""
    rows = steady("in", read=1 / 3, written=1) + steady("out", read=1)

    demands = _demands(_job(chain({"in": 1, "out": 1})), rows)

    assert [demands[VertexId(v)][0] for v in ("in", "out")] == [0.333, 0.999]


def test_a_diamond_meets_again() -> None:
    """Both ways through a diamond add up, whichever is longer."""
    edges = [("in", "a"), ("in", "out"), ("a", "b"), ("b", "out")]
    topology = Topology(
        vertices=tuple(
            Vertex(id=VertexId(v), name=v, parallelism=1, max_parallelism=8) for v in ("in", "a", "b", "out")
        ),
        edges=tuple(Edge(source=VertexId(u), target=VertexId(v)) for u, v in edges),
    )
    rows = [
        *steady("in", read=100, written=150, lag=(0, 6000)),
        *steady("a", read=100, written=50),
        *steady("b", read=50, written=50),
        *steady("out", read=100),
    ]

    demands = _demands(_job(topology), rows)

    assert {vertex: target for vertex, (target, _) in demands.items()} == {
        "in": 200,
        "a": 200,
        "b": 100,
        # of the 100/s that it reads b sends 50/s, so `in` sends it 50/s directly: ratio 0.5, and 1 from b
        "out": 200,
    }


def test_an_unknown_input_leaves_the_job_without_a_demand() -> None:
    """No vertex of the job has a target, also not one behind another source; the job beside it is not touched."""
    topology = Topology(
        vertices=tuple(Vertex(id=VertexId(v), name=v, parallelism=1, max_parallelism=8) for v in ("a", "b", "out")),
        edges=(Edge(source=VertexId("a"), target=VertexId("out")),),
    )
    other = _job(chain({"in": 1}), key=JobKey("prod", "other"))
    rows = steady("a", read=100, written=100) + steady("out", read=100)

    demands = _demands(_job(topology), rows, {other: steady("in", read=70, job="prod/other")})
    alone = _demands(other, steady("in", read=70, job="prod/other"), {_job(topology): rows})

    assert np.isnan([target for target, _ in demands.values()]).all()
    assert alone[VertexId("in")][0] == 70


@pytest.mark.parametrize(("lag", "behind"), [(30_000, False), (30_001, True)])
def test_a_backlog_is_lag_in_time_of_input(lag: float, *, behind: bool) -> None:
    """At 100/s the default threshold of 5 minutes is 30,000 records, for every vertex of the job."""
    rows = steady("in", read=100, lag=(lag, lag)) + steady("out", read=100)
    batch = assemble([_job(chain({"in": 1, "out": 1}))], reduce_windows(table_of(rows)))

    assert backlog(batch).tolist() == [behind, behind]


def test_a_stuck_source_with_lag_is_in_backlog() -> None:
    """It would take for ever; without lag it is just idle."""
    jobs = [_job(chain({"in": 1}), key=JobKey("prod", name)) for name in ("stuck", "idle")]
    rows = steady("in", read=0, lag=(5, 5), job="prod/stuck") + steady("in", read=0, lag=(0, 0), job="prod/idle")

    found = backlog(assemble(jobs, reduce_windows(table_of(rows))))

    assert found.tolist() == [True, False]


def _counted(written: float, *, until_s: int = 60) -> list[Row]:
    """Let a source read 100/s, its connector tell of no lag, and what is written be counted for a while."""
    return [
        replace(row, values={**row.values, Measure.ARRIVED: written * row.at_ms / 1000})
        if row.at_ms <= 1000 * until_s
        else row
        for row in steady("in", read=100, lag=(0, 0))
    ]


def test_what_is_written_to_a_source_is_what_comes_in() -> None:
    """It reads 100/s and tells of no lag, while 250/s are written."""
    assert _demands(_job(chain({"in": 1})), _counted(250))[VertexId("in")][0] == 250


def test_a_count_of_an_old_part_of_the_window_is_not_believed() -> None:
    """Since half a minute nobody says what is written: what is read has to do."""
    assert _demands(_job(chain({"in": 1})), _counted(250, until_s=30))[VertexId("in")][0] == 100
