"""From the counter epochs of a reduced window to one `WindowStats` a measure, for all vertices of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

import numpy as np

from headgate.algorithm.columns import Column, Columns
from headgate.algorithm.stats import Bools, Floats, Ints, WindowStats
from headgate.model.measures import SUBUNIT, Measure
from headgate.model.windows import LEVEL, STATISTICS, TREND, column


def combine(windows: Columns, vertex: Ints, vertices: int) -> Mapping[Measure, WindowStats]:
    """
    Put the epochs of each vertex together; every measure that a window keeps is answered, an unseen one with NaN.

    Differences are taken within an epoch only, so a counter that began anew does not count as negative growth.

    Args:
        windows: reduced windows, one row a (job, vertex, epoch), in any order.
        vertex: the vertex that each of these rows belongs to, 0 to `vertices` - 1.
        vertices: how many vertices there are.
    """
    order = np.lexsort((windows["epoch"].values, vertex))
    ordered, owner = windows.rows(order), vertex[order]
    return {
        measure: _combine({name: ordered[column(measure, name)] for name in names}, owner, vertices)
        for measure, names in STATISTICS.items()
    }


def _combine(part: Mapping[str, Column], vertex: Ints, vertices: int) -> WindowStats:
    return WindowStats(
        **(_trend(part, vertex, vertices) if TREND[0] in part else _no_trend(vertices)),
        **(_level(part, vertex, vertices) if LEVEL[0] in part else _no_level(vertices)),
        count=np.bincount(vertex, weights=part["count"].values, minlength=vertices).astype(np.float64),
    )


class _Trend(TypedDict):
    first: Floats
    last: Floats
    increase: Floats
    elapsed_ms: Floats


class _Level(TypedDict):
    total: Floats
    infinite: Bools


def _trend(part: Mapping[str, Column], vertex: Ints, vertices: int) -> _Trend:
    first, last, count = (part[name].values for name in ("first", "last", "count"))
    passed = part["last_ms"].values - part["first_ms"].values
    seen, grows = count > 0, count > 1
    return _Trend(
        # of several assignments to one place the last one holds
        first=_place(first[seen][::-1] / SUBUNIT, vertex[seen][::-1], vertices),
        last=_place(last[seen] / SUBUNIT, vertex[seen], vertices),
        increase=_sum((last - first)[grows], vertex[grows], vertices) / SUBUNIT,
        elapsed_ms=_sum(passed[grows], vertex[grows], vertices),
    )


def _level(part: Mapping[str, Column], vertex: Ints, vertices: int) -> _Level:
    seen = part["sum"].valid
    infinite = np.zeros(vertices, dtype=np.bool_)
    infinite[vertex[part["infinite"].values]] = True
    total = np.nan_to_num(_sum(part["sum"].values[seen], vertex[seen], vertices) / SUBUNIT)
    return _Level(total=total, infinite=infinite)


def _no_trend(vertices: int) -> _Trend:
    unknown = np.full(vertices, np.nan)
    return _Trend(first=unknown, last=unknown, increase=unknown, elapsed_ms=unknown)


def _no_level(vertices: int) -> _Level:
    return _Level(total=np.full(vertices, np.nan), infinite=np.zeros(vertices, dtype=np.bool_))


def _place(values: Floats, vertex: Ints, vertices: int) -> Floats:
    placed = np.full(vertices, np.nan)
    placed[vertex] = values
    return placed


def _sum(values: Ints, vertex: Ints, vertices: int) -> Floats:
    """Exact sums a vertex; NaN where there is nothing to add."""
    sums = np.zeros(vertices, dtype=np.int64)
    np.add.at(sums, vertex, values)
    return np.where(np.bincount(vertex, minlength=vertices) > 0, sums.astype(np.float64), np.nan)
