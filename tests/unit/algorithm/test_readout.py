"""Evaluations as values again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headgate.algorithm.evaluate import evaluate
from headgate.algorithm.fleet import FleetJob, assemble
from headgate.algorithm.readiness import Span
from headgate.algorithm.readout import metrics_by_job, spans_by_job
from headgate.algorithm.reduce import reduce_windows
from headgate.model.identity import JobKey
from headgate.model.metrics import EvaluatedMetrics, NotReady, ScalingMetric
from headgate.model.reasons import Reason
from headgate.model.samples import Measure
from headgate.options.autoscaler import AutoscalerOptions
from headgate.testing.builders import ORDERS, at, chain
from headgate.testing.tables import Row, steady, table_of


def _metrics(rows: list[Row], *names: str) -> EvaluatedMetrics | NotReady:
    job = FleetJob(
        key=ORDERS, topology=chain(dict.fromkeys(names, 1)), options=AutoscalerOptions(), coverage=0.5, samples=7
    )
    batch = assemble([job], reduce_windows(table_of(rows)))
    return metrics_by_job([job], batch, evaluate(batch))[ORDERS]


def test_numbers_return_to_their_vertices() -> None:
    """What is known stands under its name; a vertex without lag has no lag."""
    rows = steady("in", read=100, written=100, lag=(10, 10)) + steady("out", read=100)

    found = _metrics(rows, "in", "out")

    assert isinstance(found, EvaluatedMetrics)
    source, sink = found.vertices.values()
    assert source.metrics[ScalingMetric.LAG] == 10
    assert ScalingMetric.LAG not in sink.metrics
    assert sink.metrics[ScalingMetric.TRUE_PROCESSING_RATE] == 200
    assert sink.needed_capacity == 159.53
    assert sink.factor == 159.53 / 200
    assert (found.coverage, found.samples, found.backlog) == (0.5, 7, False)


def test_a_vertex_that_counts_nothing_holds_its_job_up() -> None:
    """Behind a vertex whose records are unknown everything would seem to need nothing, and be shrunk."""
    found = _metrics(steady("in", read=100, written=100) + steady("out", read=100), "in", "mid", "out")

    assert found == NotReady(reason=Reason.MISSING_METRICS, message="the records of mid are not known")


@pytest.mark.parametrize("lacking", [Measure.NUM_RECORDS_IN, Measure.NUM_RECORDS_OUT])
def test_both_sides_of_a_vertex_must_be_counted(lacking: Measure) -> None:
    """What it reads and, if something reads from it, what it writes; a sink writes to nobody."""
    rows = {name: steady(name, read=100, written=100) for name in ("in", "mid", "out")}

    def without(name: str, measure: Measure) -> list[Row]:
        return [replace(row, values={m: v for m, v in row.values.items() if m is not measure}) for row in rows[name]]

    found = _metrics(rows["in"] + without("mid", lacking) + rows["out"], "in", "mid", "out")
    sink = _metrics(rows["in"] + rows["mid"] + without("out", Measure.NUM_RECORDS_OUT), "in", "mid", "out")

    assert found == NotReady(reason=Reason.MISSING_METRICS, message="the records of mid are not known")
    assert isinstance(sink, EvaluatedMetrics)


def test_jobs_do_not_mix() -> None:
    """Each job gets its own rows, the ready ones beside the others."""
    keys = [JobKey("c", name) for name in ("a", "b", "c")]
    jobs = [FleetJob(key=key, topology=chain({"in": 1}), options=AutoscalerOptions()) for key in keys]
    rows = steady("in", read=10, job="c/a") + steady("in", read=30, job="c/c")
    batch = assemble(jobs, reduce_windows(table_of(rows)))

    answers = metrics_by_job(jobs, batch, evaluate(batch))

    targets = [
        [metrics.metrics[ScalingMetric.TARGET_DATA_RATE] for metrics in answer.vertices.values()]
        if isinstance(answer, EvaluatedMetrics)
        else None
        for answer in answers.values()
    ]
    assert targets == [[10], None, [30]]


def test_spans_are_those_of_all_epochs() -> None:
    """A restart in between does not make two vertices of one."""
    base = round(at(0).timestamp() * 1000)
    rows = [Row(vertex="v", at_ms=base + 1000 * second, epoch=second // 30) for second in range(0, 60, 10)]

    spans = spans_by_job(reduce_windows(table_of(rows)))

    assert spans == {"prod/orders": {"v": Span(samples=6, first_at=at(0), last_at=at(50))}}
