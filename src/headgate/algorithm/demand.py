"""The demand of every vertex: what comes into the sources, carried through the job graph by the output ratios."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from headgate.algorithm.batch import Batch
from headgate.algorithm.capacity import Demand
from headgate.algorithm.rates import ieee, rate, round3
from headgate.algorithm.stats import Bools, Floats
from headgate.model.measures import Measure
from headgate.model.metrics import ScalingMetric

Pinned = Mapping[ScalingMetric, Floats]
"""(n,) values that replace evaluated ones, NaN where nothing is replaced."""

NOTHING: Pinned = {}

MOST_OF_WINDOW = 0.8
"""Share of the time over which a source has counted, for which what comes in has to be counted, too, to be believed."""


def demand(batch: Batch, ratios: Floats, pinned: Pinned = NOTHING) -> Demand:
    """
    Give the target and catch-up rate of every vertex, carried along the edges by their output ratios.

    A source whose input cannot be told leaves its whole job without a demand: a graph fed by an unknown amount has no
    target anywhere. By busy time alone a vertex has to do what it reads.
    """
    coming = source_target(batch)
    unknown = _job_has(batch, batch.is_source & np.isnan(coming))
    own = rate(batch.windows[Measure.NUM_RECORDS_IN]) + batch.added
    target = propagate(batch, np.where(unknown, np.nan, coming), ratios, pinned.get(ScalingMetric.TARGET_DATA_RATE))
    catch_up = propagate(batch, source_catch_up(batch), ratios, pinned.get(ScalingMetric.CATCH_UP_DATA_RATE))
    busy_only = batch.tuning.busy_only
    return Demand(
        target=np.where(busy_only, round3(own), target),
        catch_up=np.where(busy_only & ~batch.is_source, 0.0, catch_up),
    )


def source_target(batch: Batch) -> Floats:
    """
    Give the records/s that come into a source; never negative.

    That is over the window, or since it changed where that is known. What an external metric adds comes on top of it.
    """
    counted = counted_input(batch)
    windowed = np.where(np.isnan(counted), inferred_input(batch), counted)
    return replaced(windowed, batch.arriving) + batch.added


def counted_input(batch: Batch) -> Floats:
    """
    Give the records/s that were written to what a source reads, as its owner counts them.

    NaN where that is not known for most of the time over which the source counted what it read.
    """
    arrived, read = batch.windows[Measure.ARRIVED], batch.windows[Measure.NUM_RECORDS_IN]
    lasted = arrived.elapsed_ms >= MOST_OF_WINDOW * read.elapsed_ms
    return np.where(lasted, np.maximum(0, rate(arrived)), np.nan)


def inferred_input(batch: Batch) -> Floats:
    """
    Give the records/s that a source reads and by how much its lag grows.

    A source that reports no lag at all counts as having none. Source: FLIP-271, target data rate.
    """
    lag = batch.windows[Measure.LAG]
    growth = np.where(lag.count == 0, 0.0, rate(lag))
    return np.maximum(0, rate(batch.windows[Measure.NUM_RECORDS_IN]) + growth)


@ieee
def source_catch_up(batch: Batch) -> Floats:
    """Give the records/s that work off a source's lag within the catch-up duration; 0 without either."""
    lag = np.nan_to_num(batch.windows[Measure.LAG].last)
    return np.where(batch.tuning.catch_up_s != 0, lag / batch.tuning.catch_up_s, 0.0)


@ieee
def propagate(batch: Batch, of_source: Floats, ratios: Floats, pinned: Floats | None = None) -> Floats:
    """
    Carry the sources' rates to every vertex: the sum over its inputs of their rate times the output ratio.

    All jobs go level by level at once; rates are rounded before they are carried on, as in the reference. A pinned
    value stands instead of what is carried to its vertex, and is carried on.
    Source: DS2 (OSDI 2018), traversal of the logical graph in topological order.
    """
    fixed = np.full(len(batch.job), np.nan) if pinned is None else pinned
    carried = replaced(np.where(batch.is_source, round3(of_source), 0.0), fixed)
    depth = batch.level[batch.downstream]
    order = np.argsort(depth, kind="stable")
    for edges in np.split(order, np.flatnonzero(np.diff(depth[order])) + 1):
        into = batch.downstream[edges]
        np.add.at(carried, into, carried[batch.upstream[edges]] * ratios[edges])
        carried[into] = replaced(round3(carried[into]), fixed[into])
    return carried


def replaced(values: Floats, pinned: Floats | None) -> Floats:
    """Give the pinned values where there are any."""
    return values if pinned is None else np.where(np.isnan(pinned), values, pinned)


@ieee
def backlog(batch: Batch) -> Bools:
    """
    Tell for each vertex whether a source of its job is behind by more than the threshold of input time.

    A source whose rate or lag is unknown does not count; one that reads nothing and lags does.
    Source: the reference's `isProcessingBacklog`.
    """
    behind_s = batch.windows[Measure.LAG].last / rate(batch.windows[Measure.NUM_RECORDS_IN])
    return _job_has(batch, batch.is_source & (behind_s > batch.tuning.backlog_threshold_s))


def _job_has(batch: Batch, vertices: Bools) -> Bools:
    """Spread a flag of any vertex to its whole job."""
    jobs = np.bincount(batch.job, weights=vertices)
    return jobs[batch.job] > 0
