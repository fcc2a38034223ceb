"""Rates, means and the two roundings: the arithmetic that every other formula is written in. Missing is NaN."""

from __future__ import annotations

import numpy as np

from headgate.algorithm.stats import Floats, WindowStats

ieee = np.errstate(divide="ignore", invalid="ignore")
"""Decorates formulas in which a division by zero or an unknown number is a normal case, answered by infinity or NaN."""

MILLIS = 1000
COARSE = 2.0**43
"""From here on doubles are further apart than a thousandth."""
HALF = 0.5
LARGEST_WHOLE = 2.0**63


def rate(stats: WindowStats) -> Floats:
    """
    Give the growth per second between the first and the last value; NaN with fewer than two values.

    A counter's resets do not count as negative growth: each epoch brings its own difference and its own time.
    Source: the reference's `getRate`; epochs are ours.
    """
    return MILLIS * stats.increase / np.maximum(stats.elapsed_ms, 1)


def mean(stats: WindowStats, least: Floats | int = 1) -> Floats:
    """
    Give the arithmetic mean of the finite values, infinite if there are none but infinite ones.

    Fewer finite values than `least` give NaN; the all-infinite case does not ask for it. Source: the reference's
    `getAverage`.
    """
    average = np.where(stats.count >= least, stats.total / np.maximum(stats.count, 1), np.nan)
    return np.where(stats.count > 0, average, np.where(stats.infinite, np.inf, np.nan))


def round3(x: Floats) -> Floats:
    """
    Round to three decimals, half away from zero, of the shortest decimal text; never to 0.

    Exact below 1e11, where a text of four decimals belongs to one double only: `x` is at or above the halfway text
    `k + 0.5` thousandths exactly if it is at or above that text's double, here the quotient. NaN and infinities stay.
    Source: the reference's `roundMetric`.
    """
    size = np.abs(x)
    thousandths = np.floor(size * 1000)
    up = size >= (2 * thousandths + 1) / 2000
    rounded = np.copysign((thousandths + up) / 1000, x)
    return np.where((size < COARSE) & (rounded != 0), rounded, x)


@ieee
def rnd(x: Floats) -> Floats:
    """
    Round to a whole number, halves upwards.

    Infinities become the ends of 64-bit integers. Source: Java's `Math.round`, which the reference's capacities take.
    """
    whole = np.floor(x)
    nearest: Floats = np.where(x - whole >= HALF, whole + 1, whole)
    return nearest.clip(-LARGEST_WHOLE, LARGEST_WHOLE)
