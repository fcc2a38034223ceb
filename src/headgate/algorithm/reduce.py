"""
The numpy reducer: samples of a window to one row a (job, vertex, epoch), the columns of `model.windows`.

Spark SQL reduces the log under the same contract; a property test holds the two equal. No formula stands here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from headgate.algorithm.columns import Column, Table
from headgate.algorithm.stats import Bools, Ints
from headgate.model.samples import Measure
from headgate.model.windows import column, statistics


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped:
    """Samples in order of job, vertex, epoch and tick; a group shares the first three."""

    rows: Table
    group: Ints
    """Group of each row, 0 upwards."""
    begins: Ints
    """First row of each group."""


def reduce_windows(samples: Table) -> Table:
    """
    Reduce the rows of a window, in whatever order they come.

    Args:
        samples: columns `epoch`, `at_ms`, `measured_ms`, `infinite` and one a measure, as in `model.tables.SAMPLES`;
            the first four are never null. A (job, vertex, tick) stands once.

    Returns:
        The columns of `model.windows`, sorted by job, vertex and epoch.
    """
    grouped = _grouped(samples)
    begins = grouped.begins
    columns = {"epoch": _full(grouped.rows["epoch"].values[begins]), **_span(grouped)}
    for measure in Measure:
        kept = _statistics(grouped, measure)
        columns |= {column(measure, name): kept[name] for name in statistics(measure)}
    return Table(job=grouped.rows.job[begins], vertex=grouped.rows.vertex[begins], columns=columns)


def _grouped(samples: Table) -> Grouped:
    # ranks instead of texts: sorting integers is several times faster
    job, vertex = (np.unique(keys, return_inverse=True)[1] for keys in (samples.job, samples.vertex))
    epoch, tick = samples["epoch"].values, samples["at_ms"].values
    order = np.lexsort((tick, epoch, vertex, job))
    differs = np.zeros(len(order), dtype=np.bool_)
    differs[:1] = True
    for key in (job, vertex, epoch):
        differs[1:] |= key[order][1:] != key[order][:-1]
    return Grouped(rows=samples.take(order), group=np.cumsum(differs) - 1, begins=np.flatnonzero(differs))


def _span(grouped: Grouped) -> Mapping[str, Column]:
    ticks = grouped.rows["at_ms"].values
    return {
        "samples": _full(np.bincount(grouped.group, minlength=len(grouped.begins))),
        "first_at_ms": _full(np.minimum.reduceat(ticks, grouped.begins)),
        "last_at_ms": _full(np.maximum.reduceat(ticks, grouped.begins)),
    }


def _statistics(grouped: Grouped, measure: Measure) -> Mapping[str, Column]:
    """Every statistic a window can keep of a measure; groups without a finite value have none but the counts."""
    groups = len(grouped.begins)
    finite = np.flatnonzero(grouped.rows[measure.column].valid)
    values = grouped.rows[measure.column].values[finite]
    times = grouped.rows["measured_ms"].values[finite]
    group = grouped.group[finite]
    begins = np.flatnonzero(np.diff(group, prepend=-1))
    ends = np.append(begins[1:], len(group))[: len(begins)] - 1
    flagged = (grouped.rows["infinite"].values & measure.bit) != 0
    found = {
        "first": values[begins],
        "first_ms": times[begins],
        "last": values[ends],
        "last_ms": times[ends],
        "sum": np.add.reduceat(values, begins),
        "max": np.maximum.reduceat(values, begins),
    }
    return {
        **{name: _spread(there, group[begins], groups) for name, there in found.items()},
        "count": _full(np.bincount(group, minlength=groups)),
        "infinite": _full(np.logical_or.reduceat(flagged, grouped.begins)),
    }


def _spread(values: Ints, groups: Ints, count: int) -> Column:
    spread, valid = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.bool_)
    spread[groups], valid[groups] = values, True
    return Column(values=spread, valid=valid)


def _full(values: Ints | Bools) -> Column:
    return Column(values=values, valid=np.ones(len(values), dtype=np.bool_))
