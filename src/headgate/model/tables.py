"""
Schemas of the tables of the samples log, declared once as Arrow schemas.

Measures are 64-bit integers in thousandths, so that sums are exact in whatever order they are taken; a missing value
is null, an infinite one is null with its bit set in `infinite`. The pipeline derives Spark's schemas from these.
"""

from __future__ import annotations

import pyarrow as pa

from headgate.model.measures import JobMeasure, Measure

SCHEMA_VERSION = 1


def _column(name: str, kind: pa.DataType, comment: str) -> pa.Field:
    return pa.field(name, kind, metadata={"comment": comment})


def _schema(*columns: pa.Field) -> pa.Schema:
    return pa.schema(list(columns), metadata={"headgate.schema-version": str(SCHEMA_VERSION)})


SAMPLES = _schema(
    _column("job", pa.string(), "cluster/job-name"),
    _column("vertex", pa.string(), "vertex id"),
    _column("at_ms", pa.int64(), "tick of the collector, epoch milliseconds"),
    _column("measured_ms", pa.int64(), "when the engine measured, epoch milliseconds of its own clock"),
    _column("epoch", pa.int32(), "raised at each counter reset"),
    _column("parallelism", pa.int32(), "running parallelism"),
    _column("infinite", pa.int32(), "bit mask of the measures that were infinite"),
    *(_column(m.column, pa.int64(), f"{m.name}, in thousandths") for m in Measure),
)
"""One row a (job, vertex, tick)."""

JOBS = _schema(
    _column("job", pa.string(), "cluster/job-name"),
    _column("at_ms", pa.int64(), "tick of the collector, epoch milliseconds"),
    _column("job_id", pa.string(), "the engine's id of this submission"),
    _column("running_since_ms", pa.int64(), "when the job last became RUNNING"),
    _column("fingerprint", pa.string(), "of the topology"),
    _column("slots_total", pa.int32(), "slots of the cluster"),
    _column("slots_free", pa.int32(), "free slots of the cluster"),
    *(_column(m.value, pa.int64(), f"{m.name}, in thousandths") for m in JobMeasure),
)
"""One row a (job, tick): job-wide values."""

VERTICES = _schema(
    _column("job", pa.string(), "cluster/job-name"),
    _column("at_ms", pa.int64(), "tick at which the topology was first seen so, or seen again in a new hour"),
    _column("position", pa.int32(), "place in topological order"),
    _column("vertex", pa.string(), "vertex id"),
    _column("name", pa.string(), "vertex name"),
    _column("parallelism", pa.int32(), "running parallelism"),
    _column("max_parallelism", pa.int32(), "bound of the parallelism"),
    _column("partitions", pa.int32(), "partitions of a source, null if unknown"),
    _column("finished", pa.bool_(), "whether the vertex has finished"),
    _column("inputs", pa.list_(pa.string()), "ids of the upstream vertices"),
    _column("ship_strategies", pa.list_(pa.string()), "how each input ships its records"),
    _column("slot_sharing_group", pa.string(), "group whose vertices share slots, null if none is known"),
)
"""One row a vertex of a topology; a job's rows of its latest `at_ms` are its topology."""

DECISIONS = _schema(
    _column("job", pa.string(), "cluster/job-name"),
    _column("at_ms", pa.int64(), "time of the decision"),
    _column("id", pa.string(), "decision id"),
    _column("outcome", pa.string(), "Rescale, Keep or NotReady"),
    _column("reason", pa.string(), "reason code of the outcome"),
    _column("detail", pa.string(), "the whole decision as JSON, every step with its numbers; null if all stays"),
    _column("graph", pa.string(), "where detail is null: the vertices as JSON"),
    _column("numbers", pa.list_(pa.float64()), "where detail is null: what was evaluated"),
    _column("names", pa.string(), "names of the numbers as JSON; null from a Headgate that kept none"),
    _column("message", pa.string(), "where detail is null: the decision in words"),
    _column("basis", pa.string(), "where detail is null: what the downtime among the numbers was learnt from"),
)
"""One row a (job, decision tick), whatever the outcome."""

SIGNALS = _schema(
    _column("job", pa.string(), "cluster/job-name"),
    _column("name", pa.string(), "name that it was declared under"),
    _column("vertex", pa.string(), "vertex id, null for the whole job"),
    _column("at_ms", pa.int64(), "tick of the collector, epoch milliseconds"),
    _column("measured_ms", pa.int64(), "when it was true, epoch milliseconds of its own system's clock"),
    _column("value", pa.float64(), "as it was read; nothing is summed over it"),
)
"""One row a (job, external metric, tick)."""

CIRCUMSTANCES = _schema(
    _column("job", pa.string(), "cluster/job-name"),
    _column("at_ms", pa.int64(), "decision tick from which what it says holds"),
    _column("behind_ms", pa.int64(), "age of the sample that the decision went by, -1 if there was none"),
    _column("service", pa.string(), "how the service ran: mode and intervals, as JSON"),
    _column("listed", pa.string(), "the job as its cluster listed it, and why there is no sample, as JSON"),
    _column("settings", pa.string(), "the cluster's own settings, as JSON"),
    _column("options", pa.string(), "the options that hold for the job, as JSON"),
    _column("state", pa.string(), "what was remembered of the job before the decision, as JSON"),
    _column("history", pa.string(), "its rescales among that, as JSON"),
    _column("downtime", pa.string(), "how long a rescale was predicted to take, as JSON"),
    _column("orders", pa.string(), "what people have ordered of the job, as JSON"),
)
"""
What decisions depended on beside samples. A null says: as in the job's row before this one.

A process writes a job's first row in full, and again in each hour; between them only rows, and of these only columns,
that say something new.
"""

TABLES = {
    "samples": SAMPLES,
    "jobs": JOBS,
    "vertices": VERTICES,
    "decisions": DECISIONS,
    "signals": SIGNALS,
    "circumstances": CIRCUMSTANCES,
}
