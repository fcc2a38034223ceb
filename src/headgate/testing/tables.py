"""Tables of samples for tests of the algorithm: rows in, thousandths out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from headgate.algorithm.columns import Column, Table
from headgate.model.measures import SUBUNIT, Measure


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One sample of one vertex; an infinite value sets its flag, NaN is missing."""

    job: str = "prod/orders"
    vertex: str
    at_ms: int
    measured_ms: int | None = None
    """None: measured at the tick."""
    epoch: int = 0
    values: Mapping[Measure, float] = field(default_factory=dict)


def steady(
    vertex: str,
    *,
    read: float,
    written: float = 0.0,
    busy: float = 0.5,
    lag: tuple[float, float] | None = None,
    job: str = "prod/orders",
) -> list[Row]:
    """
    Build a minute in the life of a vertex that does the same all the time: a sample every 10 seconds.

    Args:
        vertex: its id.
        read: records/s read.
        written: records/s written to all outputs.
        busy: busy share of each subtask, 0 to 1.
        lag: lag in records at the begin and at the end of the minute; None when the vertex has none.
        job: the job's key as text.
    """
    return [
        Row(
            job=job,
            vertex=vertex,
            at_ms=second * 1000,
            values={
                Measure.NUM_RECORDS_IN: read * second,
                Measure.NUM_RECORDS_OUT: written * second,
                Measure.LOAD: busy,
                **({Measure.LAG: lag[0] + (lag[1] - lag[0]) * second / 60} if lag else {}),
            },
        )
        for second in range(0, 61, 10)
    ]


def looked_at(
    vertex: str, spans: Iterable[tuple[int, float]], *, true_rate: float, parallelism: int = 1, skew: float = 1.0
) -> list[Row]:
    """
    Build the samples of a vertex that could always do the same, however busy it is and however often it is looked at.

    Args:
        vertex: its id.
        spans: of each sample but the first the seconds since the one before, and how busy the average subtask was.
        true_rate: records/s that it reads with its average subtask always busy.
        parallelism: its subtasks.
        skew: busy time of the subtask that `LOAD` is about, as a multiple of the average.
    """
    at_s, read, busy_ms = 0, 0.0, 0.0
    rows = [Row(vertex=vertex, at_ms=0, values={Measure.NUM_RECORDS_IN: 0, Measure.ACCUMULATED_BUSY_TIME: 0})]
    for span_s, busy in spans:
        at_s += span_s
        read += true_rate * busy * span_s
        busy_ms += 1000 * parallelism * busy * span_s
        values = {
            Measure.NUM_RECORDS_IN: read,
            Measure.ACCUMULATED_BUSY_TIME: busy_ms,
            Measure.LOAD: busy * skew,
            Measure.MEAN_LOAD: busy,
        }
        rows.append(Row(vertex=vertex, at_ms=1000 * at_s, values=values))
    return rows


def table_of(rows: Iterable[Row]) -> Table:
    """Build the table that the numpy reducer reads."""
    rows = list(rows)
    numbers: dict[str, list[float]] = {
        "epoch": [row.epoch for row in rows],
        "at_ms": [row.at_ms for row in rows],
        "measured_ms": [row.at_ms if row.measured_ms is None else row.measured_ms for row in rows],
        "infinite": [sum(m.bit for m, value in row.values.items() if math.isinf(value)) for row in rows],
        **{measure.column: [row.values.get(measure, math.nan) for row in rows] for measure in Measure},
    }
    return Table(
        job=np.array([row.job for row in rows], dtype=np.str_),
        vertex=np.array([row.vertex for row in rows], dtype=np.str_),
        columns={name: _column(values, SUBUNIT if name in MEASURES else 1) for name, values in numbers.items()},
    )


MEASURES = frozenset(measure.column for measure in Measure)


def _column(values: Iterable[float], scale: int) -> Column:
    floats = np.array(list(values), dtype=np.float64)
    valid = np.isfinite(floats)
    return Column(values=np.rint(np.where(valid, floats, 0) * scale).astype(np.int64), valid=valid)
