"""Whether a rate has been rising all the time since it changed last, and what it has risen to by now."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headgate.algorithm.arrival.suffixes import Moments, Suffixes
from headgate.algorithm.rates import ieee
from headgate.algorithm.stats import Bools, Floats, Ints

_SURE = 4.0
"""Standard errors that the slope of a line must be above none."""

_LEAST = 5
"""Stretches that a line needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rise:
    """The line through the newest stretches of n sources; every array has shape (n,)."""

    is_sure: Bools
    """Whether it goes upwards."""
    rate: Floats
    """Its end, records/s: the mean of all would lag behind."""
    error: Floats
    """Standard error of that, records/s."""


@ieee
def rise(sums: Suffixes, begins: Ints, variation: Floats) -> Rise:
    """
    Fit a line to the stretches of each source from a column on.

    How much rates vary around it is told by what it leaves over, together with one difference as counting would make
    it, for few stretches may lie on a line by chance; and by how much they vary otherwise. A falling rate is told by
    its mean, which is on the safe side.
    Source: weighted least squares, where a stretch of t seconds has a t-th of the variance of one of a second.

    Args:
        sums: of the stretches.
        begins: the first column that counts, (n,).
        variation: of each source's rate around a line, (n,).
    """
    moments, rows = Moments.of(sums), np.arange(len(begins))
    took_s, came = sums.took_s[rows, begins], sums.came[rows, begins]
    mean, age = came / took_s, moments.took_age[rows, begins] / took_s
    spread = moments.took_age_squared[rows, begins] - took_s * age**2
    slope = (came * age - moments.came_age[rows, begins]) / spread
    left = moments.came_rate[rows, begins] - came * mean - slope**2 * spread
    count = sums.took_s.shape[1] - 1 - begins
    variance = np.fmax((np.maximum(left, 0.0) + mean) / (count - 1), variation * mean**2)
    return Rise(
        is_sure=(count >= _LEAST) & (slope > 0) & (slope**2 * spread > _SURE**2 * variance),
        rate=mean + slope * age,
        error=np.sqrt(variance * (1 / took_s + age**2 / spread)),
    )
