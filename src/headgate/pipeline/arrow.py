"""Between Arrow tables and the arrays of the algorithm; and the Arrow schemas that only the pipeline uses."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.algorithm.arrival.stretches import SERIES as _SERIES
from headgate.algorithm.columns import Column, Columns, Strings, Table
from headgate.algorithm.stats import Ints
from headgate.model.windows import COLUMNS, JOB_COLUMNS

_KEYS = ("job", "vertex")


def _window_type(name: str) -> pa.DataType:
    if name in _KEYS:
        return pa.string()
    return pa.bool_() if name.endswith("__infinite") else pa.int64()


WINDOWS = pa.schema([(name, _window_type(name)) for name in COLUMNS])
"""Reduced windows: one row a (job, vertex, epoch)."""

JOB_WINDOWS = pa.schema([(name, _window_type(name)) for name in JOB_COLUMNS])
"""Reduced windows of job-wide measures: one row a job."""

KEYS_OF_VERTICES = pa.schema([(name, pa.string()) for name in _KEYS])
"""One row a vertex."""

SERIES = pa.schema([*KEYS_OF_VERTICES, *(pa.field(name, pa.int64()) for name in _SERIES)])
"""Samples of sources, as far as they tell what comes in: one row a (job, vertex, tick)."""

USUAL = pa.schema([("usual_from_ms", pa.int64()), ("usual_until_ms", pa.int64())])
"""One row: where the windows of most jobs begin and end, both included, epoch milliseconds."""

OTHERS = pa.schema([("job", pa.string()), ("window_from_ms", pa.int64()), ("window_until_ms", pa.int64())])
"""One row a job whose window begins or ends at another instant than that of most jobs, epoch milliseconds."""


def arrays(table: pa.Table) -> Table:
    """Give an Arrow table as arrays, with its keys."""
    return Table(job=_texts(table["job"]), vertex=_texts(table["vertex"]), columns=columns(table).columns)


def columns(table: pa.Table) -> Columns:
    """Give the integer and boolean columns of an Arrow table as arrays; texts are left out."""
    numbers = (field.name for field in table.schema if not pa.types.is_string(field.type))
    return Columns(columns={name: _column(table[name]) for name in numbers})


def joined(first: pa.ChunkedArray | pa.Array, second: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """Give two keys as one; no key holds a line break."""
    return pc.binary_join_element_wise(first, second, "\n")


def places(keys: pa.ChunkedArray | pa.Array, known: pa.Array) -> Ints:
    """Give the place of each key among the known ones, -1 for one that is not among them."""
    found: Ints = pc.index_in(keys, value_set=known).fill_null(-1).to_numpy().astype(np.int64)
    return found


def _texts(column: pa.ChunkedArray) -> Strings:
    return np.array(column.to_pylist(), dtype=np.str_)


def _column(column: pa.ChunkedArray) -> Column:
    wide = column if pa.types.is_boolean(column.type) else column.cast(pa.int64())
    if not wide.null_count:
        return Column(values=wide.to_numpy(), valid=np.ones(len(wide), dtype=np.bool_))
    return Column(
        values=wide.fill_null(pa.scalar(0, pa.int64()).cast(wide.type)).to_numpy(),
        valid=pc.is_valid(wide).to_numpy(),
    )
