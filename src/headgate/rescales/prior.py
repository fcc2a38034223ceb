"""What the downtime model learns from a series: its prior, the shape from which it starts for a user's own jobs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headgate.algorithm.downtime import Lines, Rescales, fit_series, predict
from headgate.rescales.cells import Kind
from headgate.rescales.rows import Row
from headgate.rescales.table import grouped, markdown

_BYTES_PER_MB = 1e6


def fit_rows(rows: Sequence[Row]) -> Lines:
    """Return the model's lines, one a kind, through all rows: any backend, any parallelism."""
    return fit_series(
        Rescales(
            state_bytes=np.array([row.state_bytes for row in rows], dtype=np.float64),
            downtime_s=np.array([row.phases.downtime_s for row in rows], dtype=np.float64),
            job=np.array([row.block for row in rows], dtype=np.int64),
            redeploy=np.array([row.cell.move.kind is Kind.REDEPLOY for row in rows]),
        )
    )


def model_table(rows: Sequence[Row]) -> str:
    """Return what the model says for the states that were measured, beside what was measured, in seconds."""
    lines = fit_rows(rows)
    head = ["kind", "state MB", "measured", "the model", "its interval", "measured within it"]
    table = []
    for (kind, state), group in grouped(rows, lambda row: (str(row.cell.move.kind), row.cell.state_mb)):
        line = lines.at(np.array([int(kind == Kind.REDEPLOY)]))
        expected, low, high = (float(bound[0]) for bound in predict(line, np.array([_BYTES_PER_MB * state])))
        took = np.array([row.phases.downtime_s for row in group])
        within = np.count_nonzero((took >= low) & (took <= high))
        measured, interval = f"{np.median(took):.2f}", f"{low:.2f} to {high:.2f}"
        table.append([kind, str(state), measured, f"{expected:.2f}", interval, f"{within} of {len(took)}"])
    return markdown(head, table)
