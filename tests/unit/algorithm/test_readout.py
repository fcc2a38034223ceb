"""Evaluations as values again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headgate.algorithm.evaluate import evaluate
from headgate.algorithm.fleet import FleetJob, assemble
from headgate.algorithm.readout import Readout, VertexRows
from headgate.algorithm.reduce import reduce_windows
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import Measure
from headgate.model.metrics import NotReady, ScalingMetric
from headgate.model.reasons import Reason
from headgate.model.topology import Topology
from headgate.options.autoscaler import AutoscalerOptions
from headgate.testing.builders import ORDERS, chain
from headgate.testing.tables import Row, steady, table_of


def _read(rows: list[Row], *names: str) -> tuple[Readout, Topology]:
    topology = chain(dict.fromkeys(names, 1))
    job = FleetJob(key=ORDERS, topology=topology, options=AutoscalerOptions())
    batch = assemble([job], reduce_windows(table_of(rows)))
    return Readout(batch=batch, evaluation=evaluate(batch)), topology


def _lacking(rows: list[Row], *names: str) -> NotReady | None:
    readout, topology = _read(rows, *names)
    return readout.lacking(topology, 0)


def test_numbers_return_to_their_vertices() -> None:
    """What is known stands under its name; a vertex without lag has no lag."""
    readout, topology = _read(steady("in", read=100, written=100, lag=(10, 10)) + steady("out", read=100), "in", "out")

    source, sink = VertexRows(readout, topology, 0).values()

    assert source.metrics[ScalingMetric.LAG] == 10
    assert ScalingMetric.LAG not in sink.metrics
    assert sink.metrics[ScalingMetric.TRUE_PROCESSING_RATE] == 200
    assert sink.metrics[ScalingMetric.MAX_PARALLELISM] == 128
    assert sink.needed_capacity == 159.53
    assert sink.factor == 0.7976


def test_a_vertex_that_counts_nothing_holds_its_job_up() -> None:
    """Behind a vertex whose records are unknown everything would seem to need nothing, and be shrunk."""
    found = _lacking(steady("in", read=100, written=100) + steady("out", read=100), "in", "mid", "out")

    assert found == NotReady(reason=Reason.MISSING_METRICS, message="the records of mid are not known")


@pytest.mark.parametrize("lacking", [Measure.NUM_RECORDS_IN, Measure.NUM_RECORDS_OUT])
def test_both_sides_of_a_vertex_must_be_counted(lacking: Measure) -> None:
    """What it reads and, if something reads from it, what it writes; a sink writes to nobody."""
    rows = {name: steady(name, read=100, written=100) for name in ("in", "mid", "out")}

    def without(name: str, measure: Measure) -> list[Row]:
        return [replace(row, values={m: v for m, v in row.values.items() if m is not measure}) for row in rows[name]]

    found = _lacking(rows["in"] + without("mid", lacking) + rows["out"], "in", "mid", "out")
    sink = _lacking(rows["in"] + rows["mid"] + without("out", Measure.NUM_RECORDS_OUT), "in", "mid", "out")

    assert found == NotReady(reason=Reason.MISSING_METRICS, message="the records of mid are not known")
    assert sink is None


def test_jobs_do_not_mix() -> None:
    """Each job reads its own rows out, beside one whose records are not known."""
    graph = chain({"in": 1})
    jobs = [FleetJob(key=JobKey("c", name), topology=graph, options=AutoscalerOptions()) for name in ("a", "b", "c")]
    rows = steady("in", read=10, job="c/a") + steady("in", read=30, job="c/c")
    batch = assemble(jobs, reduce_windows(table_of(rows)))

    readout = Readout(batch=batch, evaluation=evaluate(batch))

    targets = [
        VertexRows(readout, graph, row)[VertexId("in")].metrics.get(ScalingMetric.TARGET_DATA_RATE) for row in range(3)
    ]
    assert targets == [10, None, 30]
    assert [readout.lacking(graph, row) is None for row in range(3)] == [True, False, True]
