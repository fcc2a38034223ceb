"""A straight line through noisy points of which neither end may fall below zero, with the interval of its slope."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from headgate.algorithm.stats import Floats

SURE = 2.0
"""Standard errors to each side of an estimate: an interval of 95 %."""
HUBER = 1.5
"""Standard deviations from the line up to which a point counts in full; a farther one pulls no harder than that."""
ROUNDS = 5
"""Of reweighting; the fit moves no further after a few."""
TINY = 1e-100
"""In place of zero where something is divided by it."""
NOISE = 0.1
"""Deviation of a batch's task time, as a share, that is believed at least: a few points may lie well by chance."""
PRIOR = 0.9
"""Share of the points' `y` that grows with `x` where the points do not tell: a task by itself costs little."""
PRIOR_DEVIATION = 0.25
TO_DEVIATION = 1.4826
"""From a median absolute deviation to the standard deviation of normal noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """`y = intercept + slope * x`, neither below zero; it passes the middle of the points whatever the slope."""

    intercept: float
    slope: float
    slope_error: float
    """How far the slope may be from the truth, which lies between 0 and the middle's `y / x`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fit:
    """An unbounded fit: the middle of the points and the slope through it, with their standard errors."""

    x: float
    y: float
    y_error: float
    slope: float
    slope_error: float


def fitted(x: Floats, y: Floats, weight: Floats) -> Line:
    """
    Fit a line to points of x > 0 and y >= 0, one at least.

    Noise grows with size, so a point of large x weighs less; one far off its fellows pulls no harder than one at
    `HUBER` deviations. Points at nearly the same x tell little of the slope: what is usual is held against them, with
    its own doubt, so that points which tell more soon count for more.
    Source: Huber, Robust Estimation of a Location Parameter (1964), by iterated weighted least squares; the prior by
    the precision-weighted mean of two normal estimates.
    """
    found = _robust(x, y, weight)
    steepest = (found.y + SURE * found.y_error) / found.x
    prior, doubt = PRIOR * found.y / found.x, max(PRIOR_DEVIATION * found.y / found.x, TINY)
    told = 1 / max(found.slope_error, TINY) ** 2
    mean = (found.slope * told + prior / doubt**2) / (told + 1 / doubt**2)
    slope, reach = min(max(0.0, mean), steepest), SURE / math.sqrt(told + 1 / doubt**2)
    return Line(intercept=max(0.0, found.y - slope * found.x), slope=slope, slope_error=reach)


def _robust(x: Floats, y: Floats, weight: Floats) -> _Fit:
    size = x + x.mean()
    trust = np.ones_like(x)
    for _ in range(ROUNDS):
        found = _least_squares(x, y, weight * trust / size**2)
        residual = (y - found.y - found.slope * (x - found.x)) / size
        scale = TO_DEVIATION * float(np.median(np.abs(residual)))
        trust = np.minimum(1.0, HUBER * scale / np.maximum(np.abs(residual), TINY)) if scale > 0 else trust
    return found


def _least_squares(x: Floats, y: Floats, weight: Floats) -> _Fit:
    """Fit by weighted least squares; where x does not vary the slope may be anything."""
    share = weight / weight.sum()
    middle_x, middle_y = float(share @ x), float(share @ y)
    spread = float(share @ (x - middle_x) ** 2)
    told = spread > (1e-9 * middle_x) ** 2
    slope = float(share @ ((x - middle_x) * (y - middle_y))) / spread if told else 0.0
    count = 1 / float(share @ share)
    residual = y - middle_y - slope * (x - middle_x)
    seen = float(share @ residual**2) / max(count - 2, TINY)
    variance = max(seen, (NOISE * middle_y) ** 2 / count)
    return _Fit(
        x=middle_x,
        y=middle_y,
        y_error=math.sqrt(variance),
        slope=slope,
        slope_error=math.sqrt(variance / spread) if told else math.inf,
    )
