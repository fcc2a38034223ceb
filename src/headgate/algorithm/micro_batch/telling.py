"""What is told of a query beside its number of cores: its rates, the band around them, and what limits it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from headgate.algorithm.hpa.formula import factor_to
from headgate.algorithm.micro_batch.application import Application
from headgate.algorithm.policies import LARGEST
from headgate.algorithm.rates import MILLIS
from headgate.model.metrics import ScalingMetric
from headgate.model.reasons import Reason


def metrics(application: Application, place: int, *, outside: bool) -> Mapping[ScalingMetric, float]:
    """
    Give the metrics of a query; what is not known or has no bound is left out.

    A band that says something else than the application does is left out, too: whether it changes follows from all its
    queries together.
    """
    query = application.queries[place]
    rate = float(application.ends.usual[place, application.ends.here])
    told = dict(_rates(application, place))
    if 0 < rate < math.inf:
        told[ScalingMetric.TRUE_PROCESSING_RATE] = rate
        low, high = _thresholds(application, place, rate)
        if (rate < low or rate > high) == outside:
            told[ScalingMetric.SCALE_UP_RATE_THRESHOLD] = low
            told[ScalingMetric.SCALE_DOWN_RATE_THRESHOLD] = high
    if not math.isnan(query.lag):
        told[ScalingMetric.LAG] = query.lag
    return told


def limited(application: Application, place: int) -> tuple[Mapping[Reason, float], int]:
    """
    Give what keeps a query behind that no cores mend, if anything does, and how many it would take without it.

    That is the largest batch allowed, or that a batch is cut into too few tasks.
    """
    need, running = application.need, application.running
    if not application.behind[place]:
        return {}, need.wanted
    needed, ends = application.wish.needed[place], application.ends
    free = application.unlimited[place] >= needed
    reason = Reason.BATCH_LIMIT if free.any() else Reason.BATCH_TASKS
    best = ends.usual[place, -1]
    in_proportion = ends.cores[-1] * needed / best if best > 0 else LARGEST
    wish = int(ends.cores[free.argmax()]) if free.any() else math.ceil(min(in_proportion, LARGEST))
    if wish <= need.wanted and reason is Reason.BATCH_TASKS:
        return {}, need.wanted
    return {reason: max(1.0, factor_to(running, need.wanted))}, max(wish, need.wanted)


def _rates(application: Application, place: int) -> Iterator[tuple[ScalingMetric, float]]:
    query, need = application.queries[place], application.need
    if not math.isnan(query.rate):
        yield ScalingMetric.TARGET_DATA_RATE, query.rate
        yield ScalingMetric.CATCH_UP_DATA_RATE, float(application.demand.catch_up[place])
    if not math.isnan(load := _load(application, place)):
        yield ScalingMetric.LOAD, load
    if need.together <= need.alone.max():
        costs = application.learnt.costs
        # More cores than one query can use are wanted for the sake of the others: its waves are no measure then.
        yield ScalingMetric.NUM_SOURCE_PARTITIONS, float(costs.tasks[costs.query == place].max())


def _load(application: Application, place: int) -> float:
    """
    Give the share that tasks take of the time there is for them; without an interval, what comes over what can be done.

    What a batch takes outside of its tasks is no load: no core makes it less.
    """
    pace, query = application.pace, application.queries[place]
    interval_ms = pace.interval_ms[place]
    if interval_ms > 0:
        outside_ms = application.learnt.filled.costs.batch_ms[place]
        lasts_ms = query.load * interval_ms if query.load < 1 else max(interval_ms, query.batch_s * MILLIS)
        room_ms = pace.period_ms[place] - outside_ms
        return float(np.clip((lasts_ms - outside_ms) / room_ms, 0.0, 1.0)) if room_ms > 0 else math.nan
    rate = application.ends.usual[place, application.ends.here]
    return float(min(1.0, application.demand.target[place] / rate)) if rate > 0 else math.nan


def _thresholds(application: Application, place: int, rate: float) -> tuple[float, float]:
    """
    Give the usual rates between which a query by itself asks for no change.

    Below the lower one even the cheap end is too slow; above the upper one fewer cores are enough at the dear end.
    """
    ends, wish = application.ends, application.wish
    cheap = ends.cheap[place, ends.here]
    fewer = ends.dear[place, ends.here - 1] if ends.here else 0.0
    low = float(wish.band.scale_up[place] * rate / cheap)
    spare = float(np.nextafter(wish.needed[place] * rate / fewer, 0.0)) if fewer > 0 else math.inf
    return low, max(float(wish.band.scale_down[place]), spare)
