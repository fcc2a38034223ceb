"""Nullable integer columns of samples and of reduced windows: the shape that both have in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
class Columns:
    """Rows of vertices that are told apart elsewhere."""

    columns: Mapping[str, Column]

    def __getitem__(self, name: str) -> Column:
        """Give a column by name."""
        return self.columns[name]

    def rows(self, rows: Ints) -> Columns:
        """Give these rows, in this order."""
        return Columns(
            columns={
                name: Column(values=column.values[rows], valid=column.valid[rows])
                for name, column in self.columns.items()
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(Columns):
    """Rows of jobs' vertices under the text form of the job's key and the vertex id."""

    job: Strings
    vertex: Strings

    def owners(self, number_of: Mapping[tuple[str, str], int]) -> Ints:
        """Give the number of each row's vertex, -1 for one that has none."""
        keys = zip(self.job.tolist(), self.vertex.tolist(), strict=True)
        return np.array([number_of.get(key, -1) for key in keys], dtype=np.int64)


def stacked(parts: Sequence[Columns]) -> Columns:
    """Put rows of the same columns below each other; at least one part."""
    return Columns(
        columns={
            name: Column(
                values=np.concatenate([part.columns[name].values for part in parts]),
                valid=np.concatenate([part.columns[name].valid for part in parts]),
            )
            for name in parts[0].columns
        }
    )
