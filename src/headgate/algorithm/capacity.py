"""What capacity a demand asks for at some utilization, and whether the true rate lies within its band."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headgate.algorithm.batch import Tuning
from headgate.algorithm.rates import ieee, rnd, round3
from headgate.algorithm.stats import Bools, Floats
from headgate.options.deviations import Deviation


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What a vertex has to do, records/s, (n,) arrays."""

    target: Floats
    """The input as it comes in, the growth of the lag included."""
    catch_up: Floats
    """To work off the lag within the catch-up duration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """True rates, records/s, between which a vertex is left alone, (n,) arrays."""

    scale_up: Floats
    """Below it the vertex is too slow."""
    scale_down: Floats
    """Above it the vertex is too large."""


@ieee
def capacity(demand: Demand, utilization: Floats, *, restart_rate: Floats | float = 0.0, exact: Bools) -> Floats:
    """
    Give the records/s at full busyness that serve the demand at a utilization.

    Infinite at utilization 0, NaN where the demand is unknown; utilization is cut to 0..1. Three decimals where
    `exact`, else a whole number. Source: the reference's `getTargetProcessingCapacity` (FLIP-271).
    """
    share = np.clip(utilization, 0, 1)
    sought = demand.catch_up + restart_rate + demand.target / share
    needed = np.where(exact, round3(sought), rnd(sought))
    known = ~np.isnan(demand.target) & ~np.isnan(demand.catch_up)
    return np.where(known, np.where(share == 0, np.inf, needed), np.nan)


@ieee
def restart_rate(target: Floats, tuning: Tuning) -> Floats:
    """
    Give the records/s that work off what piles up in a restart within the catch-up duration; 0 when that is off.

    Source: FLIP-271, restart time.
    """
    return np.where(tuning.catch_up_s != 0, target * tuning.restart_s / tuning.catch_up_s, 0)


def needed_capacity(demand: Demand, tuning: Tuning) -> Floats:
    """Give the capacity at the utilization target, restart included: what the parallelism is chosen for."""
    return capacity(
        demand,
        tuning.utilization_target,
        restart_rate=restart_rate(demand.target, tuning),
        exact=tuning.rules[Deviation.EXACT_CAPACITY],
    )


def band(demand: Demand, tuning: Tuning, backlog: Bools) -> Band:
    """
    Give the rates between which nothing need be done.

    While a backlog is worked off the band is as wide as can be: too slow is only who cannot even keep up at full
    busyness, nobody is too large. Only the upper end counts the restart, so a vertex just enlarged does not shrink at
    once. Source: the reference's `computeProcessingRateThresholds`.
    """
    high = np.where(backlog, 1.0, tuning.utilization_max)
    low = np.where(backlog, 0.0, tuning.utilization_min)
    exact = tuning.rules[Deviation.EXACT_CAPACITY]
    return Band(
        scale_up=capacity(demand, high, exact=exact),
        scale_down=capacity(demand, low, restart_rate=restart_rate(demand.target, tuning), exact=exact),
    )


def outside(true_rate: Floats, band: Band) -> Bools:
    """Tell whether the true rate lies outside its band; False where anything is NaN."""
    return (true_rate < band.scale_up) | (true_rate > band.scale_down)


@ieee
def scale_factor(needed: Floats, true_rate: Floats, *, exact: Bools) -> Floats:
    """
    Give needed capacity over true rate: by how much to multiply the parallelism.

    0 where nothing is needed, infinite where something is needed of a vertex that does nothing.
    Where `exact` it has four decimals: rates have three, and what they lose must not be rounded up to one more subtask.
    Source: DS2 (OSDI 2018), optimal parallelism.
    """
    factor = np.where((needed == 0) & (true_rate == 0), 0.0, needed / true_rate)
    return np.where(exact, np.round(factor, 4), factor)
