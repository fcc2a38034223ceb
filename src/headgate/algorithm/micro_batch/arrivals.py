"""How many rows a second come to a query, by what it read and what waits, batch by batch."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from headgate.algorithm.deriv import deriv
from headgate.algorithm.rates import MILLIS
from headgate.algorithm.series import counter, gauge
from headgate.algorithm.stats import Floats
from headgate.model.measures import Measure
from headgate.model.samples import VertexSample

LATELY = 3
"""Triggers, at least, by which what came lately is told."""
LATEST = 0.25
"""Share of the window, at least, that they span."""


LEAST = 0.5
"""Share of the trigger interval below which the time between two measurements says nothing of a rate."""


def arrival_rate(seen: Sequence[VertexSample | None]) -> float:
    """
    Give the rows/s that come to a query, NaN where that is unknown; never by the engine's own gauge of input.

    Rows read and rows waiting, added up, grow by what comes in, however far behind the query is. Both are true at the
    trigger of a batch, which is when they were measured. Across a reset of the counter neither counts.

    Args:
        seen: the query's first stage at each tick of the window, None where nothing new was measured.
    """
    measured = _at_each_trigger(seen)
    read, lag = counter(measured, Measure.NUM_RECORDS_IN), gauge(measured, Measure.LAG)
    come = read.increase if np.isnan(lag).any() else read.increase + _growth(lag, read.elapsed_s)
    interval_s = measured[-1].values.get(Measure.BATCH_INTERVAL, 0.0) / MILLIS if measured else 0.0
    known = len(measured) > 1 and read.elapsed_s[-1] > 0 and read.elapsed_s[-1] >= LEAST * interval_s
    return _rate(read.elapsed_s, come) if known else math.nan


def _at_each_trigger(seen: Sequence[VertexSample | None]) -> list[VertexSample]:
    """Give what was last measured of each trigger: of its batch it is told when that begins, and when it has ended."""
    return list({each.measured_at: each for each in seen if each is not None}.values())


def _growth(lag: Floats, elapsed_s: Floats) -> Floats:
    """Give what the lag grew by since the first measurement, in the time that counts."""
    return np.cumsum(np.diff(lag, prepend=lag[:1]) * (np.diff(elapsed_s, prepend=0.0) > 0))


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
