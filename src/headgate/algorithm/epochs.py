"""From the counter epochs of a reduced window to one `WindowStats` a measure, for all vertices of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

import numpy as np

from headgate.algorithm.columns import Column, Table
from headgate.algorithm.stats import Bools, Floats, Ints, WindowStats
from headgate.model.samples import Measure
from headgate.model.tables import SUBUNIT
from headgate.model.windows import column, statistics


def combine(windows: Table, vertex: Ints, vertices: int) -> Mapping[Measure, WindowStats]:
    """
    Put the epochs of each vertex together; every measure is answered, one that was never seen with NaN.

    Differences are taken within an epoch only, so a counter that began anew does not count as negative growth.

    Args:
        windows: reduced windows, one row a (job, vertex, epoch), in any order.
        vertex: the vertex that each of these rows belongs to, 0 to `vertices` - 1.
        vertices: how many vertices there are.
    """
    order = np.lexsort((windows["epoch"].values, vertex))
    ordered, owner = windows.take(order), vertex[order]
    return {measure: _combine(_parts(ordered, measure), owner, vertices) for measure in Measure}


def _parts(windows: Table, measure: Measure) -> Mapping[str, Column]:
    return {name: windows[column(measure, name)] for name in statistics(measure)}


def _combine(part: Mapping[str, Column], vertex: Ints, vertices: int) -> WindowStats:
    first, last, count = (part[name].values for name in ("first", "last", "count"))
    passed = part["last_ms"].values - part["first_ms"].values
    seen, grows = count > 0, count > 1
    return WindowStats(
        # of several assignments to one place the last one holds
        first=_place(first[seen][::-1] / SUBUNIT, vertex[seen][::-1], vertices),
        last=_place(last[seen] / SUBUNIT, vertex[seen], vertices),
        increase=_sum((last - first)[grows], vertex[grows], vertices) / SUBUNIT,
        elapsed_ms=_sum(passed[grows], vertex[grows], vertices),
        count=np.bincount(vertex, weights=count, minlength=vertices).astype(np.float64),
        **_gauge(part, vertex, vertices),
    )


class _GaugeStats(TypedDict):
    total: Floats
    maximum: Floats
    infinite: Bools


def _gauge(part: Mapping[str, Column], vertex: Ints, vertices: int) -> _GaugeStats:
    """What only a gauge has; a counter's is NaN and never infinite."""
    if "sum" not in part:
        unknown = np.full(vertices, np.nan)
        return {"total": unknown, "maximum": unknown, "infinite": np.zeros(vertices, dtype=np.bool_)}
    seen = part["sum"].valid
    total = _sum(part["sum"].values[seen], vertex[seen], vertices) / SUBUNIT
    maximum = np.full(vertices, -np.inf)
    np.maximum.at(maximum, vertex[seen], part["max"].values[seen] / SUBUNIT)
    infinite = np.zeros(vertices, dtype=np.bool_)
    np.logical_or.at(infinite, vertex, part["infinite"].values)
    return {
        "total": np.nan_to_num(total),
        "maximum": np.where(np.isneginf(maximum), np.nan, maximum),
        "infinite": infinite,
    }


def _place(values: Floats, vertex: Ints, vertices: int) -> Floats:
    placed = np.full(vertices, np.nan)
    placed[vertex] = values
    return placed


def _sum(values: Ints, vertex: Ints, vertices: int) -> Floats:
    """Exact sums a vertex; NaN where there is nothing to add."""
    sums = np.zeros(vertices, dtype=np.int64)
    np.add.at(sums, vertex, values)
    return np.where(np.bincount(vertex, minlength=vertices) > 0, sums.astype(np.float64), np.nan)
