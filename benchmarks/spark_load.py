"""The load of the comparison on Spark: a sine, a step up and a step down, another one of that kind for each seed."""

from __future__ import annotations

import bisect
import itertools
import math
import random
from dataclasses import dataclass
from functools import cached_property

_HOLDS_S = 5
"""How long each rate lasts: the sine goes in small steps, which a source can be told."""


@dataclass(frozen=True, kw_only=True)
class Load:
    """
    Rows per second over time; a crest of the sine lies between the steps, so that every seed has the same peak.

    Time is counted from when the comparison begins. By then the load has gone on for the lead, along the same sine.
    """

    seed: int
    duration_s: int = 1200
    lead_s: int = 240
    """Until a new application is as fast as it gets, and a size that was chosen before that is mended."""
    least_per_s: float = 120.0
    """In a trough without the step."""
    amplitude_per_s: float = 190.0
    step_per_s: float = 250.0

    @cached_property
    def steps(self) -> tuple[int, int]:
        """When the load steps up, and when down."""
        up_s, high_s = (_on_grid(self.duration_s * share) for share in self._drawn[:2])
        return up_s, up_s + high_s

    @cached_property
    def rates(self) -> tuple[float, ...]:
        """The rate in each second of the comparison."""
        return self._rates[self.lead_s :]

    @property
    def first_per_s(self) -> float:
        """The rate with which the lead begins."""
        return self._rates[0]

    @property
    def mean_per_s(self) -> float:
        """The mean rate."""
        return sum(self.rates) / len(self.rates)

    @property
    def peak_per_s(self) -> float:
        """The highest rate."""
        return max(self.rates)

    def offered(self, at_s: float) -> float:
        """Give the rows that have come by then, since the lead began; none before."""
        since_s = max(0.0, at_s + self.lead_s)
        second = min(int(since_s), len(self._rates) - 1)
        return self._offered[second] + self._rates[second] * (since_s - second)

    def arrival_s(self, row: float) -> float:
        """Give when a row came, the inverse of `offered`."""
        second = min(bisect.bisect_right(self._offered, row), len(self._rates)) - 1
        return second + (row - self._offered[second]) / self._rates[second] - self.lead_s

    def profile(self) -> str:
        """Write it as steps since the lead began, as the source reads them."""
        return ",".join(f"{at_s}:{self._rates[at_s]}" for at_s in range(0, len(self._rates), _HOLDS_S))

    @cached_property
    def _rates(self) -> tuple[float, ...]:
        seconds = range(-self.lead_s, self.duration_s)
        return tuple(round(self._rate(at_s // _HOLDS_S * _HOLDS_S), 1) for at_s in seconds)

    @cached_property
    def _offered(self) -> tuple[float, ...]:
        return (0.0, *itertools.accumulate(self._rates))

    @cached_property
    def _drawn(self) -> tuple[float, float, float, float]:
        drawn = random.Random(self.seed)  # noqa: S311 - the same load at each call is what is wanted
        return drawn.uniform(0.3, 0.4), drawn.uniform(0.28, 0.35), drawn.uniform(0.4, 0.5), drawn.uniform(0.35, 0.65)

    def _rate(self, at_s: float) -> float:
        _, _, period, crest = self._drawn
        up_s, down_s = self.steps
        turns = (at_s - _on_grid(up_s + (down_s - up_s) * crest)) / (self.duration_s * period)
        step = self.step_per_s if up_s <= at_s < down_s else 0.0
        return self.least_per_s + self.amplitude_per_s * (1 + math.cos(2 * math.pi * turns)) + step


def _on_grid(at_s: float) -> int:
    return round(at_s / _HOLDS_S) * _HOLDS_S
