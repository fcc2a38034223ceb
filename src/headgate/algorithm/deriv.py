"""The slope of a gauge as Prometheus gives it, so that a query and Headgate tell the same."""

from __future__ import annotations

import math

from headgate.algorithm.stats import Floats

LEAST = 2
"""One value has no slope."""


def deriv(at_s: Floats, values: Floats) -> float:
    """
    Give the growth per second along the least-squares line through a gauge's values.

    NaN with fewer than two values, or with all of them at one instant; exactly 0 where all are equal. Times count from
    the first value, as instants of today are too large to be squared.
    Source: Prometheus, `deriv()` (`linearRegression`), whose sums are compensated; these are exact.
    """
    if len(values) < LEAST:
        return math.nan
    if not (values - values[0]).any():
        return 0.0
    x, number = at_s - at_s[0], len(values)
    total = math.fsum(x)
    variance = math.fsum(x * x) - total * total / number
    covariance = math.fsum(x * values) - total * math.fsum(values) / number
    return covariance / variance if variance > 0 else math.nan
