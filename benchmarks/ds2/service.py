"""What an operator can do at a parallelism, and what of it is measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

Curve = Callable[[float], float]
"""Records/s of so many busy subtasks."""

FAR = 1_000
"""A parallelism beyond all that is tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """One operator under a fixed load."""

    target: float
    """Records/s that come in."""
    true_rate: Curve
    """Records/s at full busyness that are measured at a parallelism."""


def through(points: Mapping[int, float]) -> Curve:
    """Draw straight lines from the origin through measured points, the last one prolonged."""
    at, rates = [0.0, *points], [0.0, *points.values()]
    slope = (rates[-1] - rates[-2]) / (at[-1] - at[-2])
    at, rates = [*at, FAR], [*rates, rates[-1] + slope * (FAR - at[-1])]
    return lambda parallelism: float(np.interp(parallelism, at, rates))


def power(exponent: float) -> Curve:
    """Give `p ** exponent`."""
    return lambda parallelism: parallelism**exponent


def usl(contention: float, coherence: float) -> Curve:
    """Give the Universal Scalability Law (Gunther), 1 for one subtask."""
    return lambda p: p / (1 + contention * (p - 1) + coherence * p * (p - 1))


def stretched(curve: Curve, factor: float) -> Curve:
    """Stretch the parallelism of a curve: what it had at p it has at `factor * p`."""
    return lambda parallelism: curve(parallelism / factor)


def between(curve: Curve, optimum: int, place: float) -> float:
    """
    Give a rate that `optimum` subtasks sustain and one less do not.

    `place`: above 0, at most 1; at 1 the optimum just sustains it, but for a millionth that keeps rounding out.
    """
    less, enough = curve(optimum - 1), curve(optimum)
    return less + place * (enough - less) * (1 - 1e-6)


def busy_at(curve: Curve, target: float) -> float:
    """Give how many busy subtasks, in fractions, do the target's work on a rising curve."""
    low, high = 0.0, float(FAR)
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if curve(middle) < target else (low, middle)
    return high


def hindered(curve: Curve, target: float, by_busy: float) -> Operator:
    """
    Let a subtask be slowed down by the others: by all that there are, or by those that are busy at the same time.

    They differ where an operator is larger than its load needs. `by_busy` (0 to 1) is the weight of the second, in
    the geometric mean of both: 0 is the curve as it stands; at 1 too many subtasks are as fast as just enough.
    """
    enough = busy_at(curve, target)

    def true_rate(parallelism: float) -> float:
        busy = min(parallelism, enough)
        each = (curve(parallelism) / parallelism) ** (1 - by_busy) * (curve(busy) / busy) ** by_busy
        return float(parallelism * each)

    return Operator(target=target, true_rate=true_rate)
