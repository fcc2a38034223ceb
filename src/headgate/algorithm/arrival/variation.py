"""How much a rate varies by itself, told from its differences: steps between two levels do not count."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from headgate.algorithm.arrival.stretches import Stretches
from headgate.algorithm.rates import MILLIS, ieee
from headgate.algorithm.stats import Floats, Ints

LIMIT = 5.0
"""Standard errors that two rates must be apart: many splits are tried at every tick, and rates are not quite normal."""

_SCALES = (1, 2, 4, 8, 16)
"""Stretches taken together: a rate that varies slowly shows it only over longer ones."""

_SHORT_SCALES = _SCALES[:-1]

_DIFFERENCE, _SECOND_DIFFERENCE = (1, -1), (1, -2, 1)

_LEFT_OUT = 1 / 3
"""Share of the differences, the largest, that is left out: a step makes two at any scale."""

_LEAST = 6
_LEAST_COARSE = 12
"""Differences that must be left, of single stretches and of several together: where few are, a step is most of them."""


def variation(stretches: Stretches) -> Floats:
    """
    Give the variance of each source's rate over one second, as a share of the squared rate; NaN with too little known.

    Over a longer time it falls in proportion, so that a rate over t seconds has the standard error
    `rate * sqrt(variation / t)`. That would be too small for a rate that is not drawn anew at every instant, so it is
    told at several scales, and the largest answer holds.
    Source: von Neumann 1941, the mean square successive difference; here of relative differences, trimmed.
    """
    return _largest(stretches, _SCALES, _DIFFERENCE)


def variation_around_lines(stretches: Stretches) -> Floats:
    """
    Give the same of what is left when the rate rises or falls steadily: second differences do not see that.

    The longest times are left out, over which no rise is steady.
    """
    return _largest(stretches, _SHORT_SCALES, _SECOND_DIFFERENCE)


def _largest(stretches: Stretches, scales: Sequence[int], weights: Sequence[int]) -> Floats:
    if not stretches.width:
        return np.full(len(stretches.took_ms), np.nan)
    found = np.stack([_at_scale(stretches, scale, weights) for scale in scales])
    largest: Floats = np.where(np.isnan(found), -np.inf, found).max(axis=0)
    return np.where(np.isinf(largest), np.nan, largest)


@ieee
def _at_scale(stretches: Stretches, scale: int, weights: Sequence[int]) -> Floats:
    took_s, came = _together(stretches.took_ms, scale) / MILLIS, _together(stretches.came, scale) / MILLIS
    rates, width = _beside(came / took_s, weights), len(weights)
    middle = np.abs(sum(rates)) / width
    difference = sum(weight * rate for weight, rate in zip(weights, rates, strict=True))
    relative = np.where(middle > 0, difference / middle, 0.0)
    spans = _beside(took_s, weights)
    squares = relative**2 / sum(weight**2 / span for weight, span in zip(weights, spans, strict=True))
    known = np.all([span > 0 for span in spans], axis=0)
    return _trimmed_mean(np.where(known, squares, np.nan), _LEAST if scale == 1 else _LEAST_COARSE)


def _beside(values: Floats, weights: Sequence[int]) -> list[Floats]:
    """Give the columns that each weight of a difference applies to."""
    count = max(values.shape[1] - len(weights) + 1, 0)
    return [values[:, place : place + count] for place in range(len(weights))]


def _together(values: Ints, scale: int) -> Ints:
    """Add up so many columns at a time, beginning at the right."""
    rows, width = values.shape
    lacking = np.zeros((rows, -width % scale), dtype=values.dtype)
    summed: Ints = np.hstack([lacking, values]).reshape(rows, -1, scale).sum(axis=2)
    return summed


def _trimmed_mean(squares: Floats, least: int) -> Floats:
    """Give the mean without the largest ones, as if nothing had been left out of squares of normal differences."""
    count = np.sum(~np.isnan(squares), axis=1)
    kept = count - np.ceil(_LEFT_OUT * count).astype(np.int64)
    enough = kept >= least
    means = np.full(len(squares), np.nan)
    if not enough.any():
        return means
    sums = np.cumsum(np.sort(squares[enough], axis=1), axis=1)  # NaN goes to the end
    pairs = list(zip(count[enough].tolist(), kept[enough].tolist(), strict=True))
    whole = np.array([_share_left(*pair) * pair[0] for pair in pairs])
    means[enough] = sums[np.arange(len(sums)), kept[enough] - 1] / whole
    return means


@lru_cache(maxsize=4096)
def _share_left(count: int, kept: int) -> float:
    """Give the share of the sum of so many squares of normal numbers that is left with the smallest ones."""
    normal = NormalDist()
    squares = [normal.inv_cdf((1 + (place + 0.5) / count) / 2) ** 2 for place in range(count)]
    return sum(squares[:kept]) / sum(squares)
