"""How many rows a second come to a query, by what it read and what waits, batch by batch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headgate.algorithm.deriv import deriv
from headgate.algorithm.rates import MILLIS
from headgate.algorithm.series import counter, gauge
from headgate.algorithm.stats import Floats
from headgate.model.measures import Measure
from headgate.model.samples import VertexSample

LATE = 2.0
"""How many times as long as usual no batch may end before the time since counts as a lull."""
FEW = 4
"""Batches that the slope of late needs before it is held against that of the whole window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """What came to a query in a window; NaN is unknown."""

    rate: float
    """Rows/s."""
    batch_rows: float
    """Read by a usual batch; 0 when none ended."""


def arrivals(seen: Sequence[VertexSample | None], at_s: Floats) -> Arrivals:
    """
    Tell what came to a query, never by the engine's own gauge of input.

    Rows read and rows waiting, added up, grow by what comes in, however far behind the query is. They are looked at
    where a batch has just ended: in between nothing moves, and a window that cuts a batch in two counts it wrong.

    Args:
        seen: the query's first stage at each tick of the window, None where it was not measured.
        at_s: the ticks, seconds, increasing.
    """
    read, lag = counter(seen, Measure.NUM_RECORDS_IN), gauge(seen, Measure.LAG)
    growth = np.diff(read.increase, prepend=0.0)
    ends = np.flatnonzero(growth > 0)
    lasts_s = _batch_s(seen)
    if len(ends) == 0:
        lull = at_s[-1] - at_s[0] > LATE * lasts_s
        return Arrivals(rate=max(0.0, _slope(at_s, lag, default=0.0)) if lull else math.nan, batch_rows=0.0)
    rows = float(np.median(growth[ends]))
    if len(ends) == 1:
        return Arrivals(rate=rows / lasts_s if lasts_s > 0 else math.nan, batch_rows=rows)
    when, come = read.elapsed_s[ends], read.increase[ends] + (0.0 if np.isnan(lag[ends]).any() else lag[ends])
    since_s = float(at_s[-1] - at_s[ends[-1]])
    if since_s > LATE * max(lasts_s, float(np.median(np.diff(when)))):
        when, come = np.append(when, when[-1] + since_s), np.append(come, come[-1])
    return Arrivals(rate=_rate(when, come), batch_rows=rows)


def _rate(when: Floats, come: Floats) -> float:
    """Give the growth per second: of late where that is more, so growth is seen early and a lull shrinks nothing."""
    late = when >= (when[0] + when[-1]) / 2
    lately = deriv(when[late], come[late]) if late.sum() >= FEW else -math.inf
    return max(0.0, deriv(when, come), lately)


def _slope(at_s: Floats, gauged: Floats, *, default: float) -> float:
    known = ~np.isnan(gauged)
    slope = deriv(at_s[known], gauged[known])
    return default if math.isnan(slope) else slope


def _batch_s(seen: Sequence[VertexSample | None]) -> float:
    """Give how long a batch takes, or how far apart its triggers are, by the latest that is known of it; else 0."""
    latest = next((each.values for each in reversed(seen) if each is not None), {})
    return max(latest.get(Measure.BATCH_DURATION, 0.0), latest.get(Measure.BATCH_INTERVAL, 0.0)) / MILLIS
