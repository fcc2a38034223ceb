"""Output ratios, the backlog flag and whole evaluations of a job graph against the reference's cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from headgate.algorithm.batch import Batch
from headgate.algorithm.demand import backlog
from headgate.algorithm.edges import output_ratios
from headgate.algorithm.evaluate import evaluate
from headgate.algorithm.fleet import FleetJob, assemble
from headgate.algorithm.readout import evaluated_vertices
from headgate.algorithm.reduce import reduce_windows
from headgate.model.identity import VertexId
from headgate.model.measures import Measure
from headgate.model.metrics import ScalingMetric
from headgate.model.topology import Edge, ShipStrategy, Topology, Vertex
from headgate.options.units import parse_duration
from headgate.testing.builders import ORDERS
from headgate.testing.golden import Case, number
from headgate.testing.tables import Row, table_of

NAMES = {"NUM_RECORDS_IN_PER_SECOND", "LAG", "LOAD", "OBSERVED_TPR", "NUM_RECORDS_IN", "NUM_RECORDS_OUT"}
MEASURES = {name: Measure[name] for name in NAMES} | {"ACCUMULATED_BUSY_TIME": Measure.ACCUMULATED_BUSY_TIME}


def _topology(case: Case) -> Topology:
    return Topology(
        vertices=tuple(
            Vertex(
                id=VertexId(vertex["id"]),
                name=vertex["id"],
                parallelism=vertex.get("parallelism", 1),
                max_parallelism=vertex.get("max_parallelism", 128),
                partitions=vertex.get("num_source_partitions"),
            )
            for vertex in case.inputs["topology"]
        ),
        edges=tuple(
            Edge(source=VertexId(source), target=VertexId(vertex["id"]), ship_strategy=ShipStrategy.of(strategy))
            for vertex in case.inputs["topology"]
            for source, strategy in vertex["inputs"].items()
        ),
    )


def _rows(case: Case) -> Iterator[Row]:
    for sample in case.inputs["history"]:
        for vertex, values in sample["vertices"].items():
            known = {MEASURES[name]: number(value) for name, value in values.items() if name in MEASURES}
            yield Row(job=str(ORDERS), vertex=vertex, at_ms=sample["t_ms"], values=known)


def _job(case: Case) -> FleetJob:
    restart = parse_duration(case.inputs.get("restart_time", "0s"))
    return FleetJob(key=ORDERS, topology=_topology(case), options=replace(case.options, restart_time=restart))


def _batch(case: Case) -> Batch:
    return assemble([_job(case)], reduce_windows(table_of(_rows(case))))


def test_output_ratio(case: Case) -> None:
    """The output ratio of an edge follows from what its ends count."""
    rows = {vertex.id: row for row, vertex in enumerate(_topology(case).vertices)}
    batch = _batch(case)
    ends = (batch.upstream == rows[case.inputs["from"]]) & (batch.downstream == rows[case.inputs["to"]])

    found = output_ratios(batch)

    assert found[ends] == pytest.approx([float(case.expected["output_ratio"])], rel=1e-9, nan_ok=True)


def test_backlog_detection(case: Case) -> None:
    """A job works off a backlog when a source is behind by more than the threshold."""
    found = backlog(_batch(case))

    assert bool(found.any()) is case.expected["processing_backlog"]


def test_evaluation(case: Case) -> None:
    """
    A whole history evaluates to the reference's metrics, vertex by vertex.

    Where the reference fails the cycle, no vertex of the job has a target.
    """
    batch = _batch(case)
    if case.expected.get("error"):
        assert np.isnan(evaluate(batch).target_data_rate).all()
        return
    known = evaluated_vertices([_job(case)], batch, evaluate(batch))
    metrics = {vertex.id: known[row].metrics for row, vertex in enumerate(_topology(case).vertices)}

    for vertex, expected in case.expected["vertices"].items():
        assert metrics[VertexId(vertex)] == pytest.approx(_expected(metrics[VertexId(vertex)], expected), rel=1e-9)
    for vertex, absent in case.expected["absent"].items():
        assert not {ScalingMetric(name) for name in absent} & set(metrics[VertexId(vertex)])


def _expected(found: Mapping[ScalingMetric, float], expected: Mapping[str, Any]) -> Mapping[ScalingMetric, float]:
    """Lay the listed values over what was found: only those must match."""
    listed = {ScalingMetric(name): _value(fields) for name, fields in expected.items()}
    return {**found, **listed}


def _value(fields: Mapping[str, float | str]) -> float:
    """Give the field that the metric lives in; the reference leaves the other one NaN."""
    return next((float(value) for value in fields.values() if value != "NaN"), float("nan"))
