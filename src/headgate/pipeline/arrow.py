"""Between Arrow tables and the arrays of the algorithm; and the Arrow schemas that only the pipeline uses."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.algorithm.columns import Column, Strings, Table
from headgate.model.windows import COLUMNS

_KEYS = ("job", "vertex")


def _window_type(name: str) -> pa.DataType:
    if name in _KEYS:
        return pa.string()
    return pa.bool_() if name.endswith("__infinite") else pa.int64()


WINDOWS = pa.schema([(name, _window_type(name)) for name in COLUMNS])
"""Reduced windows: one row a (job, vertex, epoch)."""

ANSWERS = pa.schema([("job", pa.string()), ("answer", pa.string())])
"""One row a job: its evaluated metrics, or why there are none, as JSON."""

BOUNDS = pa.schema([("job", pa.string()), ("window_from_ms", pa.int64()), ("window_to_ms", pa.int64())])
"""One row a job: the instants that count, both included, epoch milliseconds."""


def arrays(table: pa.Table) -> Table:
    """Give an Arrow table as arrays; every column but the keys must hold integers or booleans."""
    names = (name for name in table.column_names if name not in _KEYS)
    return Table(
        job=_texts(table["job"]),
        vertex=_texts(table["vertex"]),
        columns={name: _column(table[name]) for name in names},
    )


def _texts(column: pa.ChunkedArray) -> Strings:
    return np.array(column.to_pylist(), dtype=np.str_)


def _column(column: pa.ChunkedArray) -> Column:
    wide = column if pa.types.is_boolean(column.type) else column.cast(pa.int64())
    return Column(
        values=wide.fill_null(pa.scalar(0, pa.int64()).cast(wide.type)).to_numpy(),
        valid=pc.is_valid(wide).to_numpy(),
    )
