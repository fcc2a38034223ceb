"""A vertex's samples as arrays over the ticks of its job, so that any window of them is two places in an array."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from headgate.algorithm.stats import Floats
from headgate.model.measures import Measure
from headgate.model.samples import JobSample, VertexSample


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counter:
    """How far a counter has come since the first tick, and over how much time that was counted."""

    increase: Floats
    elapsed_s: Floats
    """By the engine's clock; a reset counts neither as growth nor as time."""

    def rate(self, first: int, last: int) -> float:
        """Give the growth per second between two ticks; NaN where nothing was counted between them."""
        elapsed = self.elapsed_s[last] - self.elapsed_s[first]
        return float((self.increase[last] - self.increase[first]) / elapsed) if elapsed > 0 else math.nan


def ticks(samples: Sequence[JobSample]) -> Floats:
    """Give when each sample was taken, seconds since the first one."""
    return np.array([seconds_between(samples[0].at, sample.at) for sample in samples])


def seconds_between(begin: datetime, end: datetime) -> float:
    """Give the seconds from one instant to another."""
    return (end - begin).total_seconds()


def gauge(seen: Sequence[VertexSample | None], measure: Measure) -> Floats:
    """Give a measure at every tick; NaN where it is not known."""
    return np.array([math.nan if each is None else each.values.get(measure, math.nan) for each in seen])


def counter(seen: Sequence[VertexSample | None], measure: Measure) -> Counter:
    """Add up what a counter grew by from one measurement to the next of the same epoch."""
    increase, elapsed_s = np.zeros((2, len(seen)))
    before: VertexSample | None = None
    for tick, now in enumerate(seen):
        if now is None or measure not in now.values:
            continue
        if before is not None and before.epoch == now.epoch:
            increase[tick] = now.values[measure] - before.values[measure]
            elapsed_s[tick] = seconds_between(before.measured_at, now.measured_at)
        before = now
    return Counter(increase=np.cumsum(increase), elapsed_s=np.cumsum(elapsed_s))
