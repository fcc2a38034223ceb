"""
How far growth can help: bounds on the scale factor where a subtask, a sink or a vertex further down is the limit.

They never ask for fewer subtasks than there are. Infinite where nothing limits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headgate.algorithm.batch import Batch
from headgate.algorithm.busy import busy_time, mean_busy_time
from headgate.algorithm.capacity import Demand, needed_capacity, scale_factor
from headgate.algorithm.demand import propagate
from headgate.algorithm.rates import MILLIS, ieee, mean
from headgate.algorithm.stats import Bools, Floats
from headgate.model.measures import Measure
from headgate.options.deviations import Deviation

SKEWED_FROM = 1.5
"""Busy time of the hottest subtask over the mean from which it counts as skew; key groups alone make up to 1.3."""


TELLING_GROWTH = 0.25
"""Share by which a sink was to become faster from which its not doing so tells: five times the noise of a rate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowthLimits:
    """Largest sensible scale factors, (n,) arrays, 1 or more."""

    skew: Floats
    """What all subtasks together ask for, where the hottest one alone asks for more."""
    partition: Floats
    """What is left where one partition alone asks for more than a subtask."""
    saturation: Floats
    """1 for a sink that its last growth did not make faster."""
    downstream: Floats
    """What is left when the sources send no more than every vertex can take at its largest."""


def growth_limits(batch: Batch, wanted: Demand, ratios: Floats, true_rate: Floats, factor: Floats) -> GrowthLimits:
    """Give the bounds of every vertex; `factor` is its unbounded scale factor."""
    saturated = saturated_sinks(batch, true_rate, factor)
    most = np.where(saturated, batch.parallelism, batch.ceiling)
    readable = readable_share(batch, wanted, true_rate)
    return GrowthLimits(
        skew=skew_limit(batch, factor),
        partition=partition_limit(batch, wanted, true_rate, readable),
        saturation=np.where(saturated, 1.0, np.inf),
        downstream=downstream_limit(batch, wanted, ratios, true_rate, most, readable=readable),
    )


@ieee
def skew_limit(batch: Batch, factor: Floats) -> Floats:
    """
    Bound the growth of a vertex whose hottest subtask is the limit by what its mean busy time asks for.

    A hot key is not divided by more subtasks. Only where the hottest one is busier than the target.
    """
    hottest, mean_ms = busy_time(batch), mean_busy_time(batch)
    skewed = (hottest > SKEWED_FROM * mean_ms) & (hottest > MILLIS * batch.tuning.utilization_target)
    applies = skewed & ~batch.tuning.busy_average & batch.tuning.rules[Deviation.SKEW]
    return np.where(applies, np.maximum(1, factor * mean_ms / hottest), np.inf)


@ieee
def readable_share(batch: Batch, wanted: Demand, true_rate: Floats) -> Floats:
    """
    Give the share, 0 to 1, of what a source needs to do that it can do with a subtask for its fullest partition alone.

    Only one subtask reads a partition: what it holds beyond that waits, however many others there are.
    """
    needed = needed_capacity(wanted, batch.tuning)
    beyond = needed * mean(batch.windows[Measure.FULLEST_SHARE]) - true_rate / batch.parallelism
    applies = batch.is_source & (beyond > 0) & batch.tuning.rules[Deviation.SKEW]
    return np.where(applies, 1 - beyond / needed, 1.0)


@ieee
def partition_limit(batch: Batch, wanted: Demand, true_rate: Floats, readable: Floats) -> Floats:
    """Bound the growth of a source by what is left when its fullest partition gets no more than one subtask."""
    left = np.maximum(1, needed_capacity(wanted, batch.tuning) * readable / true_rate)
    return np.where(readable < 1, left, np.inf)


@ieee
def saturated_sinks(batch: Batch, true_rate: Floats, factor: Floats) -> Bools:
    """
    Tell which sinks their last growth did not make faster although they still want to grow.

    Something outside limits them; the gain is judged as `effectiveness` does it. A growth by so little that noise could
    hide its gain says nothing, nor does a vertex that is a source as well.
    """
    hoped = batch.rate_expected - batch.rate_before
    ineffective = (true_rate - batch.rate_before) / hoped < batch.tuning.effectiveness_threshold
    telling = hoped > TELLING_GROWTH * batch.rate_before
    is_sink = ~batch.is_source & (np.bincount(batch.upstream, minlength=len(batch.job)) == 0)
    saturated: Bools = ineffective & telling & is_sink & (factor > 1) & batch.tuning.rules[Deviation.BOTTLENECK_LIMITS]
    return saturated


@ieee
def downstream_limit(
    batch: Batch, wanted: Demand, ratios: Floats, true_rate: Floats, most: Floats, *, readable: Floats
) -> Floats:
    """
    Bound growth by what remains to be done when no vertex gets more than it can take at its largest parallelism.

    Sources are cut to the share that the narrowest vertex behind them can take when always busy (back-pressure would
    do it otherwise), and what they then send is carried through the graph again. Source: FLINK-31215.

    Args:
        batch: the vertices.
        wanted: their demand without limits.
        ratios: output ratio of each edge.
        true_rate: records/s at the running parallelism.
        most: largest parallelism that each vertex can have.
        readable: share of its demand that a source can read, see `readable_share`.
    """
    own = np.minimum(takeable_share(batch, wanted, true_rate, most), readable)
    share = propagate_back(batch, own)
    whole = propagate(batch, wanted.target, ratios) + propagate(batch, wanted.catch_up, ratios)
    cut = Demand(
        target=propagate(batch, wanted.target * share, ratios),
        catch_up=propagate(batch, wanted.catch_up * share, ratios),
    )
    exact = batch.tuning.rules[Deviation.EXACT_CAPACITY]
    left = np.maximum(1, scale_factor(needed_capacity(cut, batch.tuning), true_rate, exact=exact))
    # Who cannot take its own demand is held by its own bounds, and not by those behind it.
    is_cut = (cut.target + cut.catch_up < whole) & (own == 1) & ~batch.tuning.busy_only
    return np.where(is_cut & batch.tuning.rules[Deviation.BOTTLENECK_LIMITS], left, np.inf)


@ieee
def takeable_share(batch: Batch, wanted: Demand, true_rate: Floats, most: Floats) -> Floats:
    """Give the share of its demand, 0 to 1, that a vertex could serve at its largest parallelism when always busy."""
    served = true_rate * most / batch.parallelism / (wanted.target + wanted.catch_up)
    return np.where(np.isnan(served), 1.0, np.minimum(served, 1.0))


def propagate_back(batch: Batch, share: Floats) -> Floats:
    """Give for each vertex the smallest share of itself and of all vertices behind it."""
    smallest = share.copy()
    depth = batch.level[batch.upstream]
    order = np.argsort(-depth, kind="stable")
    for edges in np.split(order, np.flatnonzero(np.diff(depth[order])) + 1):
        np.minimum.at(smallest, batch.upstream[edges], smallest[batch.downstream[edges]])
    return smallest
