"""From the snapshots of a simulated engine to the sample of a vertex, with the measures that a real collector gives."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import timedelta

from headgate.algorithm.observed import observed_rate
from headgate.engines.simulated.cluster import START
from headgate.engines.simulated.snapshot import Snapshot
from headgate.model.measures import Measure
from headgate.model.samples import VertexSample
from headgate.options.autoscaler import BusyTimeAggregator


def vertex_sample(
    now: Snapshot, before: Snapshot | None, observed: float, aggregator: BusyTimeAggregator
) -> VertexSample:
    """
    Make the sample of a vertex.

    Args:
        now: what the engine tells.
        before: what it told at the sample before; None when that was another run.
        observed: what a source has shown that it can do, in records/s; NaN when nothing is known.
        aggregator: whose load counts.
    """
    tally = now.tally
    values: dict[Measure, float] = {
        Measure.NUM_RECORDS_IN: tally.records_in,
        Measure.NUM_RECORDS_OUT: tally.records_out,
        Measure.ACCUMULATED_BUSY_TIME: tally.busy_ms,
        Measure.ACCUMULATED_IDLE_TIME: tally.idle_ms,
        Measure.ACCUMULATED_BACKPRESSURED_TIME: tally.backpressured_ms,
    }
    if now.lag is not None:
        values[Measure.LAG] = now.lag
    if not math.isnan(observed):
        values[Measure.OBSERVED_TPR] = observed
    if before is not None:
        values |= load(now, before, aggregator)
    return VertexSample(measured_at=START + timedelta(seconds=now.at_s), epoch=now.epoch, values=values)


def load(now: Snapshot, before: Snapshot, aggregator: BusyTimeAggregator) -> Mapping[Measure, float]:
    """Give LOAD, 0 to 1, of the hottest or the coldest subtask, and MEAN_LOAD; nothing with the aggregator AVG."""
    run_ms = now.tally.run_ms - before.tally.run_ms
    if aggregator is BusyTimeAggregator.AVG or run_ms <= 0:
        return {}
    hottest = aggregator is BusyTimeAggregator.MAX
    grown_ms = (
        now.tally.hottest_ms - before.tally.hottest_ms if hottest else now.tally.coldest_ms - before.tally.coldest_ms
    )
    mean_ms = (now.tally.busy_ms - before.tally.busy_ms) / now.parallelism
    return {Measure.LOAD: min(1.0, grown_ms / run_ms), Measure.MEAN_LOAD: min(1.0, mean_ms / run_ms)}


def observed_since(now: Snapshot, before: Snapshot | None, lag_threshold_s: int, carried: float) -> float:
    """
    Give OBSERVED_TPR of a source from differences of counters; NaN when nothing is known.

    Args:
        now: what the engine tells.
        before: what it told at the sample before; None when that was another run.
        lag_threshold_s: lag, as seconds of input, from which the source counts as behind.
        carried: mean of what was observed before.
    """
    run_s = (now.tally.run_ms - before.tally.run_ms) / 1000 if before else 0.0
    if before is None or now.lag is None or run_s <= 0:
        return math.nan
    rate = (now.tally.records_in - before.tally.records_in) / run_s
    if rate == 0 and now.lag != 0:
        return math.nan  # stuck, which proves nothing
    blocked = (now.tally.backpressured_ms - before.tally.backpressured_ms) / (1000 * run_s * now.parallelism)
    return observed_rate(rate, now.lag, blocked, lag_threshold_s, carried if math.isfinite(carried) else math.nan)
