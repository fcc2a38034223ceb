"""
What a source has shown that it can do: its rate while it was behind, and what is remembered of it afterwards.

Unlike the formulas over arrays these run at every sample, one source at a time. Missing is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta


def unblocked_rate(rate: float, backpressured: float) -> float:
    """
    Give the records/s of a vertex if nothing behind it held it back; NaN when it does nothing but wait.

    Source: the reference's `computeObservedTprWithBackpressure` (FLINK-33306).

    Args:
        rate: records/s that it does.
        backpressured: share of its time, 0 to 1, in which it is back-pressured.
    """
    return rate / (1 - backpressured) if backpressured < 1 else math.nan


def observed_rate(rate: float, lag: float, backpressured: float, lag_threshold_s: int, carried: float) -> float:
    """
    Give OBSERVED_TPR: what a source that is behind really does; NaN when nothing is known.

    A source that is idle might do anything. One that keeps up shows no more than what arrives, so what it did while
    it was behind is carried on. Source: the reference's `getObservedTpr` (FLINK-33306).

    Args:
        rate: records/s that it reads.
        lag: records that wait.
        backpressured: share of its time, 0 to 1, in which it is back-pressured.
        lag_threshold_s: lag, as seconds of input, from which it counts as behind.
        carried: mean of what was observed before.
    """
    if math.isnan(rate):
        return math.nan
    if rate == 0:
        return math.inf
    free = unblocked_rate(rate, backpressured)
    behind = lag >= lag_threshold_s * rate
    return free if behind and not math.isnan(free) else carried


def average(values: Iterable[float], least: int = 1) -> float:
    """
    Give the arithmetic mean of the finite values, infinite if there are none but infinite ones.

    Fewer finite values than `least` give NaN. Source: the reference's `getAverage`, as `rates.mean` has it for windows.
    """
    known = [value for value in values if not math.isnan(value)]
    finite = [value for value in known if math.isfinite(value)]
    if not finite:
        return math.inf if known else math.nan
    return sum(finite) / len(finite) if len(finite) >= least else math.nan


@dataclass(slots=True, kw_only=True)
class Observations:
    """What was observed of one source in one run of its job, one value a sample, no longer than the metric window."""

    running_since: datetime
    """When the run began; another run begins with nothing."""
    values: list[tuple[datetime, float]] = field(default_factory=list)

    def mean(self, least: int) -> float:
        """Give the mean of what was observed; NaN for fewer than `least` finite values."""
        return average((value for _, value in self.values), least)

    def add(self, at: datetime, value: float, *, stabilization: timedelta, window: timedelta) -> None:
        """
        Remember a value, NaN included; forget what is older than the window once one is full.

        The window fills from the first sample after stabilization on. Source: the reference's metric window.
        """
        stable_from = self.running_since + stabilization
        first = next((when for when, _ in self.values if when >= stable_from), at)
        self.values.append((at, value))
        if at >= first + window:
            self.values = [(when, each) for when, each in self.values if when >= at - window]
