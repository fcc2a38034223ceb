"""What a vertex can do at which parallelism."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from headgate.options.bounds import Interval
from headgate.options.declaration import Options, option


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint(Options):
    """One measured point of a curve."""

    parallelism: Annotated[int, Interval(ge=1)] = option("parallelism")
    """How many subtasks ran."""

    rate: Annotated[float, Interval(gt=0)] = option("rate")
    """Records/s that all of them together managed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceCurve(Options):
    """
    Records/s at full busyness, by parallelism p: a formula or measured points.

    The formula is `rate * p**exponent / (1 + alpha * (p - 1) + beta * p * (p - 1))`: linear as it stands, a power law
    with an exponent, the Universal Scalability Law (Gunther) with contention and coherence.

    Raises:
        ValueError: not exactly one of `rate` and `points` is given, or a parallelism stands twice.
    """

    rate: Annotated[float, Interval(gt=0)] | None = option("rate", None)
    """Records/s of one subtask alone."""

    exponent: Annotated[float, Interval(gt=0)] = option("exponent", 1.0)
    """Below 1, each further subtask brings less than the one before."""

    alpha: Annotated[float, Interval(ge=0)] = option("alpha", 0.0)
    """Contention: the share of the work that is done one after another."""

    beta: Annotated[float, Interval(ge=0)] = option("beta", 0.0)
    """Coherence: what each pair of subtasks costs; above 0, the curve has a summit."""

    points: tuple[CurvePoint, ...] = option("points", ())
    """Measured points instead; straight lines between them, the last one prolonged."""

    def __post_init__(self) -> None:
        """Refuse what is no curve."""
        if (self.rate is None) == (not self.points):
            message = "a curve needs either rate or points"
            raise ValueError(message)
        at = [point.parallelism for point in self.points]
        if len(set(at)) < len(at):
            message = f"points must have different parallelisms, found {', '.join(map(str, at))}"
            raise ValueError(message)

    def capacity_per_s(self, parallelism: int) -> float:
        """Return what so many subtasks, all equally loaded, can do."""
        if self.rate is None:
            return _interpolated(self.points, parallelism)
        cost = 1 + self.alpha * (parallelism - 1) + self.beta * parallelism * (parallelism - 1)
        return self.rate * math.pow(parallelism, self.exponent) / cost


def _interpolated(points: Sequence[CurvePoint], parallelism: int) -> float:
    known = sorted([(0, 0.0), *((point.parallelism, point.rate) for point in points)])
    pieces = list(itertools.pairwise(known))
    (left, low), (right, high) = next((piece for piece in pieces if parallelism <= piece[1][0]), pieces[-1])
    return max(0.0, low + (high - low) * (parallelism - left) / (right - left))
