"""How busy a vertex is, and what it could do if it were busy all the time: the true processing rate."""

from __future__ import annotations

import numpy as np

from headgate.algorithm.batch import Batch
from headgate.algorithm.rates import MILLIS, ieee, mean, rate
from headgate.algorithm.stats import Floats
from headgate.model.measures import Measure
from headgate.options.deviations import Deviation


@ieee
def busy_time(batch: Batch) -> Floats:
    """
    Give the busy milliseconds per second of one subtask, by the vertex's aggregator.

    AVG takes the growth of the counter over all subtasks. MAX and MIN take the mean of the sampled `LOAD`, as in the
    reference's `getBusyTimeMsPerSecond`; with `COUNTERS_FIRST` they take the counter, too, times what the hottest or
    coldest subtask was busy for each second of the average one, where samples tell that.

    A mean of samples is weighted by samples, a rate by time: with six samples of 10 s at 80 % and 21 of 1 s at 20 % the
    mean is 33 %, though the vertex was busy for 64 % of the time. How subtasks differ depends on that far less.
    """
    sampled = mean(batch.windows[Measure.LOAD]) * MILLIS
    counted = np.minimum(MILLIS, mean_busy_time(batch) * skew(batch))
    by_counter = batch.tuning.rules[Deviation.COUNTERS_FIRST] & np.isfinite(counted)
    return np.where(batch.tuning.busy_average, mean_busy_time(batch), np.where(by_counter, counted, sampled))


@ieee
def skew(batch: Batch) -> Floats:
    """
    Give how busy the hottest or coldest subtask was, as a multiple of the average one; not finite where unknown.

    It is unknown where samples lack the average: those of an older log, and of collectors that do not tell it.
    """
    load, average = batch.windows[Measure.LOAD], batch.windows[Measure.MEAN_LOAD]
    return np.where(load.count == average.count, load.total / average.total, np.nan)


def mean_busy_time(batch: Batch) -> Floats:
    """
    Give the busy milliseconds per second of a subtask on average over all of them, from the counter.

    The counter of a vertex that idles may fall by some milliseconds, as Flink books idle time afterwards: that is no
    busy time.
    """
    return np.maximum(0, rate(batch.windows[Measure.ACCUMULATED_BUSY_TIME])) / batch.parallelism


def input_rate(batch: Batch) -> Floats:
    """
    Give the records/s that belong to the busy time: the numerator of the true rate.

    The reference takes the engine's gauge for MAX and MIN, so that numerator and denominator are estimated alike
    (FLINK-39306), and the counter where the gauge is missing or infinite; `COUNTERS_FIRST` turns that round.
    """
    counter = rate(batch.windows[Measure.NUM_RECORDS_IN])
    gauge = mean(batch.windows[Measure.NUM_RECORDS_IN_PER_SECOND])
    by_gauge = np.where(batch.tuning.busy_average | ~np.isfinite(gauge), counter, gauge)
    by_counter = np.where(np.isnan(counter), gauge, counter)
    return np.where(batch.tuning.rules[Deviation.COUNTERS_FIRST], by_counter, by_gauge)


@ieee
def busy_rate(input_rate: Floats, busy_ms: Floats) -> Floats:
    """
    Give the records/s at full busyness by linear extrapolation; infinite for a vertex that reads nothing.

    Source: DS2 (OSDI 2018), true processing rate = records / useful time.
    """
    return np.where(input_rate == 0, np.inf, input_rate / (busy_ms / MILLIS))


@ieee
def true_rate(busy_rate: Floats, observed: Floats, switch_threshold: Floats) -> Floats:
    """
    Choose between the rate from busy time and the one observed while the source was behind.

    A source's fetcher threads are not counted as busy, so its busy time may promise too much; once it exceeds the
    observed rate by the threshold, observation wins. Source: the reference's `computeTrueProcessingRate`
    (FLINK-33306).
    """
    too_good = busy_rate > observed * (1 + switch_threshold)
    take_observed = ~np.isnan(observed) & (~np.isfinite(busy_rate) | too_good)
    return np.where(take_observed, observed, busy_rate)


def true_processing_rate(batch: Batch) -> Floats:
    """Give the records/s that each vertex could do at its parallelism if it were busy all the time."""
    observed = mean(batch.windows[Measure.OBSERVED_TPR], batch.tuning.observed_min_observations)
    by_busy_time = busy_rate(input_rate(batch), busy_time(batch))
    return true_rate(by_busy_time, observed, batch.tuning.observed_switch_threshold)
