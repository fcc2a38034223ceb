"""The formula of the HPA for one metric, and the two metrics of the paper that go into it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from headgate.algorithm.policies import LARGEST
from headgate.algorithm.rates import MILLIS

LAG_TARGET = 1.0
"""The relative change of a lag that neither grows nor shrinks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """How far a metric may be from its target without any change, as shares of the target; 0 tolerates nothing."""

    scale_up: float = 0.1
    scale_down: float = 0.1


def relative_lag_change(lag_slope: float, rate: float) -> float:
    """
    Give what comes in over what is read: 1 where the lag stays, 2 where as much piles up as is read.

    NaN where nothing is read: nobody can tell then how many times as much would be. Where next to nothing is, it is
    no further from 0 than `LARGEST`, which no job can follow anyway.
    Source: Varga, Balassi, Kiss (2021), relative lag change `1 + deriv(total lag) / total rate`.
    """
    change = 1 + lag_slope / rate if rate > 0 else math.nan
    return change if math.isnan(change) else max(-LARGEST, min(change, LARGEST))


def utilization(idle_ms: float) -> float:
    """
    Give the share of time, 0 to 1, in which subtasks are not idle: busy or back-pressured.

    `idle_ms` is the mean over all subtasks, milliseconds per second. Counters are read a moment apart, so what lies
    outside 0 to 1000 by a little is cut; NaN stays.
    Source: Varga, Balassi, Kiss (2021), `1 - avg(idleTimeMsPerSecond) / 1000`.
    """
    return math.nan if math.isnan(idle_ms) else 1 - min(max(idle_ms, 0.0), MILLIS) / MILLIS


def capacity(rate: float, idle_ms: float) -> float:
    """
    Give the records/s of a vertex that is never idle; NaN where it reads nothing, or its idle time is unknown.

    Args:
        rate: records/s that it reads.
        idle_ms: idle milliseconds per second, the mean over its subtasks.
    """
    load = utilization(idle_ms)
    return rate / load if rate > 0 and load > 0 else math.nan


def usage_ratio(metric: float, target: float) -> float:
    """
    Give a metric over its target, both in whole thousandths.

    Source: the HPA reads quantities in thousandths; that also keeps 0.77 of 0.7 from being a little more than 1.1.

    Raises:
        ZeroDivisionError: the target is below half a thousandth.
    """
    return round(metric * MILLIS) / round(target * MILLIS)


def desired(current: int, ratio: float, tolerance: Tolerance) -> int:
    """
    Give the replicas at which a metric would meet its target, at most `LARGEST`.

    Source: HPA, `ceil(current * metric / target)`; nothing changes while the ratio lies within
    `[1 - scale_down, 1 + scale_up]`, both ends included (KEP-4951).
    """
    if 1 - tolerance.scale_down <= ratio <= 1 + tolerance.scale_up:
        return current
    return math.ceil(min(ratio * current, LARGEST))


def factor_to(current: int, wanted: int) -> float:
    """Give a factor with which `ceil(current * factor)` is exactly what is wanted, however doubles round."""
    factor = wanted / current
    return factor if factor * current <= wanted else math.nextafter(factor, 0.0)
