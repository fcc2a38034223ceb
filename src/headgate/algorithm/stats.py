"""
`WindowStats`: what is left of one measure of each vertex after its window was reduced. Missing is NaN.

Both reducers (Spark SQL for the log, numpy in process) yield these numbers per counter epoch; `combine` puts a
vertex's epochs together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowStats:
    """
    One measure of n vertices over their windows; every array has shape (n,).

    Values are in the measure's own unit, times are epoch milliseconds of the engine's clock.
    """

    first: Floats
    """First valid finite value; like the other parts of a trend NaN for a measure of which only the level is kept."""
    last: Floats
    """Last valid finite value."""
    increase: Floats
    """Sum over the epochs of last minus first: a counter's growth, resets not counted."""
    elapsed_ms: Floats
    """Sum over the epochs of the time between first and last; NaN with fewer than two values in every epoch."""
    total: Floats
    """Exact sum of the finite values; 0 when there are none, NaN for a measure of which only the trend is kept."""
    count: Floats
    """Number of finite values."""
    infinite: Bools
    """Whether an infinity was seen."""
