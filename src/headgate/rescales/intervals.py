"""
Numbers with an interval: each is taken again of many draws of the same values, 9 of 10 of which lie within.

That is the bootstrap (Efron 1979). The draws come from a fixed seed: the same rows give the same intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

FEWEST = 3
"""Of fewer values there is no interval."""

_DRAWS = 1000
_BOUNDS = (5.0, 95.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A number that was found, and between what it lies; NaN where there are too few values to say."""

    middle: float
    low: float
    high: float

    def excludes(self, value: float) -> bool:
        """Tell whether a value lies outside."""
        return value < self.low or value > self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A straight line through points, and how well it describes them."""

    base: Interval
    slope: Interval
    explained: float
    """Share of the variance (R squared)."""
    curvature: Interval
    """Of the parabola through the same points; a straight line's is 0."""


def bootstrapped(strata: Sequence[object], take: Callable[[Places], Floats]) -> Interval:
    """
    Take a number of all values, and of draws with replacement.

    Args:
        strata: to what each value belongs; every draw has as many of each as there are.
        take: gives the number of each draw, a row of places a draw.
    """
    everything = np.arange(len(strata))
    middle = float(take(everything[np.newaxis])[0])
    if len(strata) < FEWEST:
        return Interval(middle=middle, low=np.nan, high=np.nan)
    chance = np.random.default_rng(len(strata))
    draws = [chance.choice(group, (_DRAWS, len(group))) for group in _groups(strata)]
    low, high = np.nanpercentile(take(np.concatenate(draws, axis=1)), _BOUNDS)
    return Interval(middle=middle, low=float(low), high=float(high))


def median_of(values: Sequence[float]) -> Interval:
    """Return the median of at least one value."""
    all_values = np.array(values, dtype=np.float64)
    return bootstrapped([0] * len(values), lambda places: np.median(all_values[places], axis=1))


def share_of(parts: Floats, wholes: Floats) -> Interval:
    """Return the sum of the parts over the sum of the wholes."""
    return bootstrapped([0] * len(parts), lambda at: parts[at].sum(axis=1) / wholes[at].sum(axis=1))


def line_through(x: Floats, y: Floats) -> Line:
    """Return the line of least squares; x with at least three different values, drawn from each as often as it has."""
    strata = x.tolist()

    def coefficient(degree: int, power: int) -> Interval:
        return bootstrapped(strata, lambda at: _polynomials(x[at], y[at], degree)[:, power])

    base, slope = _polynomials(x[np.newaxis], y[np.newaxis], 1)[0]
    explained = 1 - np.sum((y - base - slope * x) ** 2) / np.sum((y - np.mean(y)) ** 2)
    return Line(
        base=coefficient(1, 0), slope=coefficient(1, 1), explained=float(explained), curvature=coefficient(2, 2)
    )


def rank_correlation(x: Floats, y: Floats, strata: Sequence[object]) -> Interval:
    """
    Return how far y grows with x within the strata: 1 always, -1 falls always, 0 neither (Spearman, within groups).

    Args:
        x: what may be a cause.
        y: what may grow with it.
        strata: what is alike in all else; ranks are taken within, so that no stratum's level matters.
    """
    ranks_x, ranks_y = np.zeros(len(x)), np.zeros(len(x))
    for group in _groups(strata):
        ranks_x[group], ranks_y[group] = _centred_ranks(x[group]), _centred_ranks(y[group])

    def correlations(at: Places) -> Floats:
        scales = np.sqrt(np.sum(ranks_x[at] ** 2, axis=1) * np.sum(ranks_y[at] ** 2, axis=1))
        found: Floats = np.sum(ranks_x[at] * ranks_y[at], axis=1) / np.where(scales > 0, scales, np.nan)
        return found

    return bootstrapped(strata, correlations)


def _polynomials(x: Floats, y: Floats, degree: int) -> Floats:
    """Return the coefficients of least squares of each row, the constant first."""
    scale = np.max(x)
    powers = np.stack([(x / scale) ** power for power in range(degree + 1)], axis=2)
    transposed = np.swapaxes(powers, 1, 2)
    scaled = np.linalg.solve(transposed @ powers, transposed @ y[..., np.newaxis])[..., 0]
    found: Floats = scaled / scale ** np.arange(degree + 1, dtype=np.float64)
    return found


def _groups(strata: Sequence[object]) -> list[Places]:
    return [
        np.array([place for place, other in enumerate(strata) if other == stratum], dtype=np.int64)
        for stratum in dict.fromkeys(strata)
    ]


def _centred_ranks(values: Floats) -> Floats:
    """Return ranks around 0, from -1/2 to 1/2, equal values in the middle of their places."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: Floats = ((2 * last - counts + 1) / 2)[inverse]
    return (ranks - np.mean(ranks)) / len(values)
