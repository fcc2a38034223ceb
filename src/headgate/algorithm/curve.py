"""
The curve along which a vertex's rate grows with its parallelism, and the least parallelism on it that serves a need.

The curve is `rate(p) = rate(now) * (p / now) ** exponent`: DS2's linear rule at exponent 1, and near enough to the
Universal Scalability Law (Gunther) between two parallelisms. It says nothing of why a vertex does not scale.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

EXPONENTS = (0.5, 1.0)
"""The exponents that are believed: at worst twice the rate takes four times the subtasks, at best twice."""

NOISE = 0.05
"""By which share a measured rate is off, as a standard deviation."""

_SPREAD = (EXPONENTS[1] - EXPONENTS[0]) / math.sqrt(12)
"""Standard deviation of an exponent of which only its bounds are known."""

_CONTRADICTION = 5 * math.sqrt(2) * NOISE
"""
How far apart, as a logarithm, noise may put two rates that are the same: five standard deviations.

Three or four are too few, for it is the extreme readings that a rescale is made on.
"""

_ROUNDING = 1e-9
"""Share by which floating point may put a parallelism above the whole number that is meant."""

_LARGEST_LOGARITHM = 700.0
"""Of what a float can hold."""


@dataclass(frozen=True, slots=True)
class Point:
    """What a vertex could do at a parallelism, records/s at full busyness; both above 0."""

    parallelism: int
    rate: float

    def serves(self, need: float) -> bool:
        """Tell whether it was enough."""
        return self.rate >= need

    def least_serving(self, need: float, exponent: float = 1.0) -> int:
        """
        Give the least parallelism that serves a need along the curve through this point, at least 1.

        The default is DS2's optimal parallelism (OSDI 2018), which supposes linear growth. It never leads beyond what
        is needed when growing, nor below it when shrinking, where a subtask more never makes the others faster.
        """
        ratio = max(need / self.rate, sys.float_info.min)  # of two that are far apart it may come to be 0
        exact = self.parallelism * math.exp(min(math.log(ratio) / exponent, _LARGEST_LOGARITHM))
        return max(math.ceil(exact * (1 - _ROUNDING)), 1)


def fitted(points: Sequence[Point], prior: float) -> float:
    """
    Fit the exponent to measured points by least squares of the rates' logarithms, drawn towards the prior by noise.

    The estimate of a Bayesian regression with normal errors: the prior weighs as much as points would that lie so far
    apart that `NOISE` leaves the exponent uncertain by the spread of what is believed. Points at nearly the same
    parallelism thus say little, one point says nothing. Within `EXPONENTS`, and not below the prior where that is less.
    """
    x = [math.log(point.parallelism) for point in points]
    y = [math.log(point.rate) for point in points]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    apart = sum((each - mean_x) ** 2 for each in x)
    together = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    weight = (NOISE / _SPREAD) ** 2
    slope = (together + weight * prior) / (apart + weight)
    return min(max(slope, min(EXPONENTS[0], prior)), EXPONENTS[1])


def towards_linear(exponent: float) -> float:
    """
    Give the prior for shrinking: half-way to linear.

    Subtasks that idle hardly hinder those that work, so a vertex that is too large is slowed down less than the curve
    of busy ones says: somewhere between not at all and fully.
    """
    return (exponent + 1.0) / 2


def believed(points: Sequence[Point], now: Point) -> tuple[Point, ...]:
    """
    Leave out the points that cannot lie on one curve with what is measured now: the vertex or its input has changed.

    Between two parallelisms a rate neither falls nor grows by more than its share, but for five standard deviations
    of noise. Points at the running parallelism are out of date.
    """
    return tuple(point for point in points if point.parallelism != now.parallelism and _agree(*_by_size(point, now)))


def _by_size(one: Point, other: Point) -> tuple[Point, Point]:
    return (one, other) if one.parallelism < other.parallelism else (other, one)


def _agree(small: Point, large: Point) -> bool:
    gain = math.log(large.rate / small.rate)
    share = math.log(large.parallelism / small.parallelism)
    return -_CONTRADICTION <= gain <= share + _CONTRADICTION


def bracket(points: Sequence[Point], now: Point, need: float) -> tuple[int, float]:
    """
    Give the least and the most parallelism that measurements leave open for a need; the most may be infinite.

    More than what was measured to be too slow; no more than what serves by a linear estimate from a point that was
    fast enough, for that is safe. Where both contradict each other by noise, too slow outweighs. This is what keeps a
    vertex from coming back to a parallelism that it left for good reason.
    """
    slow = [point.parallelism for point in points if not point.serves(need)]
    if now.serves(need):
        slow = [parallelism for parallelism in slow if parallelism < now.parallelism]
    else:
        slow.append(now.parallelism)
    least = 1 + max(slow, default=0)
    enough = [point for point in (*points, now) if point.serves(need) and point.parallelism >= least]
    most = min((max(point.least_serving(need), least) for point in enough), default=math.inf)
    return least, most
