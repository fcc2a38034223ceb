"""How many rows a second come to a query, by what it read and what waits, batch by batch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headgate.algorithm.deriv import deriv
from headgate.algorithm.series import counter, gauge
from headgate.algorithm.stats import Floats
from headgate.model.measures import Measure
from headgate.model.samples import VertexSample

LATELY = 3
"""Triggers, at least, by which what came lately is told."""
LATEST = 0.25
"""Share of the window, at least, that they span."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """What came to a query in a window; NaN is unknown."""

    rate: float
    """Rows/s."""
    batch_rows: float
    """Read by a usual batch; 0 when none ended."""


def arrivals(seen: Sequence[VertexSample | None]) -> Arrivals:
    """
    Tell what came to a query, never by the engine's own gauge of input.

    Rows read and rows waiting, added up, grow by what comes in, however far behind the query is. Both are true at the
    trigger of a batch, which is when they were measured.

    Args:
        seen: the query's first stage at each tick of the window, None where nothing new was measured.
    """
    measured = [each for each in seen if each is not None]
    read, lag = counter(measured, Measure.NUM_RECORDS_IN), gauge(measured, Measure.LAG)
    come = read.increase if np.isnan(lag).any() else read.increase + lag
    growth = np.diff(read.increase)
    return Arrivals(
        rate=_rate(read.elapsed_s, come), batch_rows=float(np.median(growth[growth > 0])) if growth.any() else 0.0
    )


def _rate(when: Floats, come: Floats) -> float:
    """
    Give the growth per second, never negative.

    What came lately counts where that is more: so growth is seen early, and a lull shrinks nothing.
    """
    whole = deriv(when, come)
    if len(when) <= LATELY or math.isnan(whole):
        return max(0.0, whole) if not math.isnan(whole) else whole
    late = when >= min(when[-LATELY], when[-1] - LATEST * (when[-1] - when[0]))
    return max(0.0, whole, deriv(when[late], come[late]))
