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


def bootstrapped(count: int, strata: Sequence[object], take: Callable[[Places], float]) -> Interval:
    """
    Take a number of all values, and of draws with replacement.

    Args:
        count: how many values there are.
        strata: to what each belongs; every draw has as many of each as there are.
        take: gives the number of the values at these places.
    """
    everything = np.arange(count)
    if count < FEWEST:
        return Interval(middle=take(everything) if count else np.nan, low=np.nan, high=np.nan)
    groups = _groups(strata)
    chance = np.random.default_rng(count)
    draws = [take(np.concatenate([chance.choice(group, len(group)) for group in groups])) for _ in range(_DRAWS)]
    low, high = np.nanpercentile(draws, _BOUNDS)
    return Interval(middle=take(everything), low=float(low), high=float(high))


def median_of(values: Sequence[float]) -> Interval:
    """Return the median."""
    all_values = np.array(values, dtype=np.float64)
    return bootstrapped(len(values), [0] * len(values), lambda places: float(np.median(all_values[places])))


def line_through(x: Floats, y: Floats) -> Line:
    """Return the line of least squares; x with at least three different values, drawn from each as often as it has."""
    strata = x.tolist()

    def coefficient(degree: int, power: int) -> Interval:
        return bootstrapped(len(x), strata, lambda at: float(np.polyfit(x[at], y[at], degree)[degree - power]))

    slope, base = np.polyfit(x, y, 1)
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
    groups = _groups(strata)

    def correlation(at: Places) -> float:
        members = [at[np.isin(at, group)] for group in groups]
        ranks_x = np.concatenate([_centred_ranks(x[group]) for group in members])
        ranks_y = np.concatenate([_centred_ranks(y[group]) for group in members])
        scale = np.sqrt(np.sum(ranks_x**2) * np.sum(ranks_y**2))
        return float(np.sum(ranks_x * ranks_y) / scale) if scale > 0 else np.nan

    return bootstrapped(len(x), strata, correlation)


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
