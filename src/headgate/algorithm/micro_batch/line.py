"""A straight line through noisy points of which neither end may fall below zero, with the interval of its slope."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headgate.algorithm.stats import Floats

SURE = 2.0
"""Standard errors to each side of an estimate: an interval of 95 %."""
HUBER = 1.5
"""Standard deviations from the line up to which a point counts in full; a farther one pulls no harder than that."""
ROUNDS = 8
"""Of reweighting; the fit moves no further after a few."""
TO_DEVIATION = 1.4826
"""From a median absolute deviation to the standard deviation of normal noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """`y = intercept + slope * x`, neither below zero; it passes the middle of the points whatever the slope."""

    intercept: float
    slope: float
    slope_error: float
    """Half the width of the interval of the slope, which reaches from 0 to the middle's `y / x` at most."""


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
    `HUBER` deviations. That costs are not negative bounds the slope where the points tell little: all points at one x
    leave everything from 0 to `y / x`. What is told is the middle of what is possible, and how far it reaches.
    Source: Huber, Robust Estimation of a Location Parameter (1964), by iterated weighted least squares.
    """
    found = _robust(x, y, weight)
    steepest = (found.y + SURE * found.y_error) / found.x
    low = min(max(0.0, found.slope - SURE * found.slope_error), steepest)
    high = max(min(found.slope + SURE * found.slope_error, steepest), low)
    slope = (low + high) / 2
    return Line(intercept=max(0.0, found.y - slope * found.x), slope=slope, slope_error=(high - low) / 2)


def _robust(x: Floats, y: Floats, weight: Floats) -> _Fit:
    size = x + x.mean()
    trust = np.ones_like(x)
    for _ in range(ROUNDS):
        found = _least_squares(x, y, weight * trust / size**2)
        residual = (y - found.y - found.slope * (x - found.x)) / size
        scale = TO_DEVIATION * float(np.median(np.abs(residual)))
        trust = np.minimum(1.0, HUBER * scale / np.maximum(np.abs(residual), 1e-300)) if scale > 0 else trust
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
    variance = float(share @ residual**2) / max(count - 2, 1e-9) if count > 1 else np.inf
    return _Fit(
        x=middle_x,
        y=middle_y,
        y_error=float(np.sqrt(variance)),
        slope=slope,
        slope_error=float(np.sqrt(variance / spread)) if told else np.inf,
    )
