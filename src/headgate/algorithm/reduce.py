"""
The numpy reducer: samples of a window to one row a (vertex, epoch), the columns of `model.windows`.

Spark SQL reduces the log under the same contract; a property test holds the two equal. No formula stands here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headgate.algorithm.columns import Column, Columns, Table
from headgate.algorithm.stats import Bools, Ints
from headgate.model.measures import Measure
from headgate.model.windows import STATISTICS, column


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped:
    """Samples in order of vertex, epoch and tick; a group shares the first two."""

    rows: Columns
    group: Ints
    """Group of each row, 0 upwards."""
    begins: Ints
    """First row of each group."""


@dataclass(frozen=True, kw_only=True)
class Known:
    """The finite values of one measure, group by group; a group without any does not occur."""

    values: Ints
    measured_ms: Ints
    group: Ints
    groups: int
    """How many groups there are, those without a value included."""

    @cached_property
    def begins(self) -> Ints:
        """First value of each group that has one."""
        return np.flatnonzero(np.diff(self.group, prepend=-1))

    @cached_property
    def ends(self) -> Ints:
        """Last value of each group that has one."""
        return np.flatnonzero(np.diff(self.group, append=self.groups))

    def statistic(self, name: str) -> Column:
        """Give one statistic of `model.windows`; a group without a value has none but the count."""
        match name:
            case "count":
                return _full(np.bincount(self.group, minlength=self.groups))
            case "first":
                return self._spread(self.values[self.begins])
            case "last":
                return self._spread(self.values[self.ends])
            case "first_ms":
                return self._spread(np.minimum.reduceat(self.measured_ms, self.begins))
            case "last_ms":
                return self._spread(np.maximum.reduceat(self.measured_ms, self.begins))
            case _:
                return self._spread(np.add.reduceat(self.values, self.begins))

    def _spread(self, there: Ints) -> Column:
        spread, valid = np.zeros(self.groups, dtype=np.int64), np.zeros(self.groups, dtype=np.bool_)
        places = self.group[self.begins]
        spread[places], valid[places] = there, True
        return Column(values=spread, valid=valid)


def reduce_windows(samples: Table) -> Table:
    """Reduce the rows of a window under their keys, in whatever order they come; sorted by job, vertex and epoch."""
    keys = sorted(set(zip(samples.job.tolist(), samples.vertex.tolist(), strict=True)))
    windows, owner = reduce_columns(samples, samples.owners({key: number for number, key in enumerate(keys)}))
    jobs, vertices = (np.array([key[part] for key in keys], dtype=np.str_) for part in (0, 1))
    return Table(job=jobs[owner], vertex=vertices[owner], columns=windows.columns)


def reduce_columns(samples: Columns, owner: Ints) -> tuple[Columns, Ints]:
    """
    Reduce the rows of a window whose vertices have numbers, in whatever order they come.

    Args:
        samples: columns `epoch`, `at_ms`, `measured_ms`, `infinite` and one a measure, as in `model.tables.SAMPLES`;
            the first four are never null. A (vertex, tick) stands once.
        owner: number of each row's vertex.

    Returns:
        The columns of `model.windows` but the keys of jobs and vertices, sorted by vertex and epoch; and the vertex of
        each of these rows.
    """
    order = np.lexsort((samples["at_ms"].values, samples["epoch"].values, owner))
    grouped, ordered = _grouped(samples.rows(order), owner[order]), owner[order]
    columns = {"epoch": _full(grouped.rows["epoch"].values[grouped.begins]), **_span(grouped)}
    for measure, names in STATISTICS.items():
        columns |= {column(measure, name): kept for name, kept in _statistics(grouped, measure, names).items()}
    return Columns(columns=columns), ordered[grouped.begins]


def _grouped(rows: Columns, owner: Ints) -> Grouped:
    differs = np.zeros(len(owner), dtype=np.bool_)
    differs[:1] = True
    for key in (owner, rows["epoch"].values):
        differs[1:] |= key[1:] != key[:-1]
    return Grouped(rows=rows, group=np.cumsum(differs) - 1, begins=np.flatnonzero(differs))


def _span(grouped: Grouped) -> Mapping[str, Column]:
    ticks = grouped.rows["at_ms"].values
    return {
        "samples": _full(np.bincount(grouped.group, minlength=len(grouped.begins))),
        "first_at_ms": _full(np.minimum.reduceat(ticks, grouped.begins)),
        "last_at_ms": _full(np.maximum.reduceat(ticks, grouped.begins)),
    }


def _statistics(grouped: Grouped, measure: Measure, names: tuple[str, ...]) -> Mapping[str, Column]:
    finite = np.flatnonzero(grouped.rows[measure.column].valid)
    known = Known(
        values=grouped.rows[measure.column].values[finite],
        measured_ms=grouped.rows["measured_ms"].values[finite],
        group=grouped.group[finite],
        groups=len(grouped.begins),
    )
    return {name: _infinite(grouped, measure) if name == "infinite" else known.statistic(name) for name in names}


def _infinite(grouped: Grouped, measure: Measure) -> Column:
    flagged = (grouped.rows["infinite"].values & measure.bit) != 0
    return _full(np.logical_or.reduceat(flagged, grouped.begins))


def _full(values: Ints | Bools) -> Column:
    return Column(values=values, valid=np.ones(len(values), dtype=np.bool_))
