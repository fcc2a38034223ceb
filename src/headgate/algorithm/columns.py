"""Nullable integer columns under (job, vertex) keys: the shape that samples and reduced windows share in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from headgate.algorithm.stats import Bools, Ints

Strings = npt.NDArray[np.str_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: int64 values (booleans for a flag) and which of them are there; the others are arbitrary."""

    values: npt.NDArray[Any]
    valid: Bools


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of jobs' vertices: the two keys, and every other column by its name."""

    job: Strings
    vertex: Strings
    columns: Mapping[str, Column]

    def __getitem__(self, name: str) -> Column:
        """Give a column by name."""
        return self.columns[name]

    def take(self, rows: Ints) -> Table:
        """Give the table with these rows, in this order."""
        columns = {
            name: Column(values=column.values[rows], valid=column.valid[rows]) for name, column in self.columns.items()
        }
        return Table(job=self.job[rows], vertex=self.vertex[rows], columns=columns)
