"""
Values as rows of the log's tables and back: samples in whole thousandths, decisions as JSON.

Nothing here reads or writes a file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pydantic import TypeAdapter

from headgate.model.decision import Decision
from headgate.model.identity import VertexId
from headgate.model.measures import SUBUNIT, MeasureKind
from headgate.model.samples import JobSample, Signal, VertexSample
from headgate.model.tables import DECISIONS, JOBS, SAMPLES, SIGNALS, VERTICES
from headgate.model.topology import Edge, ShipStrategy, Topology, Vertex
from headgate.samplelog.layout import epoch_ms, instant
from headgate.samplelog.quiet import is_quiet, quiet_table, read_quiet

Row = Mapping[str, Any]

_LARGEST = {MeasureKind.COUNTER: 2**63, MeasureKind.GAUGE: 2**47}
"""Bounds of what is stored, in thousandths: a window sums gauges, and 65,000 of them must not overflow 64 bits."""

_LARGEST_OF_JOB = 2**50
"""Bound of a job-wide value, which may be a terabyte: 8,000 of them must not overflow."""

_DECISION = TypeAdapter(Decision)


def sample_table(samples: Iterable[JobSample]) -> pa.Table:
    """Give the `samples` rows of one tick; a vertex that was not measured has none."""
    return _table(SAMPLES, (row for sample in samples for row in _sample_rows(sample)))


def job_table(samples: Iterable[JobSample]) -> pa.Table:
    """Give the `jobs` rows of one tick."""
    return _table(JOBS, map(_job_row, samples))


def vertex_table(samples: Iterable[JobSample]) -> pa.Table:
    """Give the `vertices` rows of one tick: the topology of each of these jobs."""
    return _table(VERTICES, (row for sample in samples for row in _vertex_rows(sample)))


def signal_table(samples: Iterable[JobSample]) -> pa.Table:
    """Give the `signals` rows of one tick."""
    return _table(SIGNALS, (row for sample in samples for row in _signal_rows(sample)))


def decision_table(decisions: Iterable[Decision]) -> pa.Table:
    """Give one `decisions` row a decision."""
    quiet, loud = list[Decision](), list[Decision]()
    for decision in decisions:
        (quiet if is_quiet(decision) else loud).append(decision)
    return pa.concat_tables([_table(DECISIONS, map(_decision_row, loud)), quiet_table(quiet)])


def read_decision(row: Row) -> Decision:
    """Read a decision back from its row."""
    return read_quiet(row) if row["detail"] is None else _DECISION.validate_json(row["detail"])


def read_signals(rows: Iterable[Row]) -> dict[str, Signal]:
    """Read the signals of one job at one tick back from their rows; exact, as they are read in whole milliseconds."""
    return {
        row["name"]: Signal(
            value=row["value"],
            measured_at=instant(row["measured_ms"]),
            vertex=None if row["vertex"] is None else VertexId(row["vertex"]),
        )
        for row in rows
    }


def read_topology(rows: Sequence[Row]) -> Topology:
    """Put a topology together from its `vertices` rows."""
    ordered = sorted(rows, key=lambda row: row["position"])
    return Topology(
        vertices=tuple(_read_vertex(row) for row in ordered),
        edges=tuple(edge for row in ordered for edge in _read_edges(row)),
    )


def _table(schema: pa.Schema, rows: Iterable[Row]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=schema)


def _sample_rows(sample: JobSample) -> Iterator[Row]:
    measured = ((v, sample.vertices[v.id]) for v in sample.topology.vertices if v.id in sample.vertices)
    for vertex, values in measured:
        yield {
            "job": str(sample.job),
            "vertex": vertex.id,
            "at_ms": epoch_ms(sample.at),
            "measured_ms": epoch_ms(values.measured_at),
            "epoch": values.epoch,
            "parallelism": vertex.parallelism,
            "infinite": _infinite(values),
            **{m.column: _stored(value, _LARGEST[m.kind]) for m, value in values.values.items()},
        }


def _infinite(sample: VertexSample) -> int:
    return sum(measure.bit for measure, value in sample.values.items() if value == math.inf)


def _stored(value: float, largest: int) -> int | None:
    scaled = value * SUBUNIT
    if not math.isfinite(scaled):
        return None
    stored = round(scaled)
    return stored if abs(stored) < largest else None


def _job_row(sample: JobSample) -> Row:
    return {
        "job": str(sample.job),
        "at_ms": epoch_ms(sample.at),
        "job_id": sample.job_id,
        "running_since_ms": epoch_ms(sample.running_since),
        "fingerprint": sample.topology.fingerprint,
        "slots_total": sample.slots_total,
        "slots_free": sample.slots_free,
        **{measure.value: _stored(value, _LARGEST_OF_JOB) for measure, value in sample.values.items()},
    }


def _signal_rows(sample: JobSample) -> Iterator[Row]:
    for name, signal in sample.signals.items():
        yield {
            "job": str(sample.job),
            "name": name,
            "vertex": signal.vertex,
            "at_ms": epoch_ms(sample.at),
            "measured_ms": epoch_ms(signal.measured_at),
            "value": signal.value,
        }


def _vertex_rows(sample: JobSample) -> Iterator[Row]:
    for position, vertex in enumerate(sample.topology.vertices):
        inputs = sample.topology.inputs[vertex.id]
        yield {
            "job": str(sample.job),
            "at_ms": epoch_ms(sample.at),
            "position": position,
            "vertex": vertex.id,
            "name": vertex.name,
            "parallelism": vertex.parallelism,
            "max_parallelism": vertex.max_parallelism,
            "partitions": vertex.partitions,
            "finished": vertex.finished,
            "inputs": [edge.source for edge in inputs],
            "ship_strategies": [edge.ship_strategy.value for edge in inputs],
            "slot_sharing_group": vertex.slot_sharing_group,
        }


def _read_vertex(row: Row) -> Vertex:
    return Vertex(
        id=VertexId(row["vertex"]),
        name=row["name"],
        parallelism=row["parallelism"],
        max_parallelism=row["max_parallelism"],
        partitions=row["partitions"],
        finished=row["finished"],
        slot_sharing_group=row["slot_sharing_group"],
    )


def _read_edges(row: Row) -> Iterator[Edge]:
    for source, strategy in zip(row["inputs"], row["ship_strategies"], strict=True):
        yield Edge(source=VertexId(source), target=VertexId(row["vertex"]), ship_strategy=ShipStrategy.of(strategy))


def _decision_row(decision: Decision) -> Row:
    return {
        "job": str(decision.job),
        "at_ms": epoch_ms(decision.at),
        "id": decision.id,
        "outcome": decision.outcome.value,
        "reason": decision.reason.value,
        "detail": decision_json(decision),
    }


def decision_json(decision: Decision) -> str:
    """Give the whole decision as JSON, readable by `read_decision`."""
    if decision.evaluated is not None:
        plain = replace(decision.evaluated, vertices=dict(decision.evaluated.vertices.items()))
        decision = replace(decision, evaluated=plain)
    # Not `dump_json`: it writes an infinite rate as null, which would not come back.
    return json.dumps(_DECISION.dump_python(decision, mode="json"))
