"""What arrives at a source over time: constant, in steps, along a trace, as a wave, and with seeded noise."""

from __future__ import annotations

import itertools
import math
import random
from bisect import bisect_right
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Annotated

import numpy as np

from headgate.options.bounds import Interval
from headgate.options.declaration import Options, option
from headgate.options.units import PositiveDuration


class Arriving(StrEnum):
    """How the noise of a load is distributed; its mean is the rate in any case."""

    NORMAL = "normal"
    """What would be below 0 is 0."""
    POISSON = "poisson"
    """Records come one by one and know nothing of each other: what comes in an interval is a whole number of them."""
    GAMMA = "gamma"
    """Skewed: long lulls between bursts, the more so the larger the noise."""
    PARETO = "pareto"
    """Heavy-tailed: hardly ever far below its mean, now and then many times as much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPoint(Options):
    """The rate at an instant."""

    at: timedelta = option("at")
    """Since the beginning of the simulation."""

    rate: Annotated[float, Interval(ge=0)] = option("rate")
    """Records/s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load(Options):
    """
    Records/s over time: `rate`, or what `points` say; plus a wave, times noise, never below 0.

    Raises:
        ValueError: the points are not in order of time.
    """

    rate: Annotated[float, Interval(ge=0)] = option("rate", 0.0)
    """Records/s where there are no points, and before the first one."""

    points: tuple[LoadPoint, ...] = option("points", ())
    """Steps, or with `interpolate` the corners of ramps and traces; the last one holds for ever."""

    interpolate: bool = option("interpolate", default=False)
    """Whether the rate goes in straight lines from point to point instead of jumping."""

    amplitude: float = option("amplitude", 0.0)
    """Height of a sine wave that begins at 0 and rises."""

    period: PositiveDuration = option("period", timedelta(hours=24))
    """Length of the wave."""

    noise: Annotated[float, Interval(ge=0)] = option("noise", 0.0)
    """Standard deviation of the rate as a share of it; that of `poisson` follows from the rate instead."""

    arriving: Arriving = option("arriving", Arriving.NORMAL)
    """How the noise is distributed."""

    noise_interval: PositiveDuration = option("noise-interval", timedelta(seconds=10))
    """How long one draw of the noise holds."""

    def __post_init__(self) -> None:
        """Refuse points that are out of order."""
        times = [point.at for point in self.points]
        if any(later <= earlier for earlier, later in itertools.pairwise(times)):
            message = "points must stand in order of their time, each time once"
            raise ValueError(message)

    def rate_per_s(self, at_s: float) -> float:
        """Return the rate without its noise, so many seconds after the beginning."""
        wave = self.amplitude * math.sin(2 * math.pi * at_s / self.period.total_seconds()) if self.amplitude else 0.0
        return max(0.0, self._level(at_s) + wave)

    def _level(self, at_s: float) -> float:
        index = bisect_right(self.points, at_s, key=lambda point: point.at.total_seconds()) - 1
        if index < 0:
            return self.rate
        here = self.points[index]
        if not self.interpolate or index + 1 == len(self.points):
            return here.rate
        there = self.points[index + 1]
        passed = (at_s - here.at.total_seconds()) / (there.at - here.at).total_seconds()
        return here.rate + (there.rate - here.rate) * passed


class Arrivals:
    """A load as one seed makes it: the same at any instant however often and in whatever steps it is asked."""

    def __init__(self, load: Load, seed: str) -> None:
        """Draw nothing yet."""
        self._load = load
        self._seed = seed
        self._interval_s = load.noise_interval.total_seconds()
        self._drawn = -1
        self._factor = 1.0

    def rate_per_s(self, at_s: float) -> float:
        """Return the rate at an instant."""
        rate = self._load.rate_per_s(at_s)
        is_noisy = self._load.noise or self._load.arriving is Arriving.POISSON
        return rate * self._noise(at_s) if is_noisy else rate

    def _noise(self, at_s: float) -> float:
        number = int(at_s // self._interval_s)
        if number != self._drawn:
            chance = random.Random(f"{self._seed}/{number}")  # noqa: S311 - a draw that can be repeated, no secret
            self._drawn, self._factor = number, self._draw(chance, number * self._interval_s)
        return self._factor

    def _draw(self, chance: random.Random, since_s: float) -> float:
        """Draw the factor of the interval that begins then; its mean is 1."""
        noise = self._load.noise
        match self._load.arriving:
            case Arriving.NORMAL:
                return max(0.0, chance.gauss(1.0, noise))
            case Arriving.POISSON:
                expected = self._load.rate_per_s(since_s) * self._interval_s
                came = np.random.default_rng(chance.getrandbits(64)).poisson(expected)
                return float(came) / expected if expected else 1.0
            case Arriving.GAMMA:
                return chance.gammavariate(noise**-2, noise**2)
            case Arriving.PARETO:
                shape = 1 + math.sqrt(1 + noise**-2)
                return chance.paretovariate(shape) * (shape - 1) / shape
