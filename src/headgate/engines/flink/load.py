"""
The busy share of the hottest or coldest subtask, from differences of each subtask's own counters.

Flink's gauge `busyTimeMsPerSecond` averages over the last minute; it is asked only where the counters are not there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.counters import Counters, share
from headgate.engines.flink.gauges import Gauges, load_of, merge, read_aggregates
from headgate.engines.flink.look import Look
from headgate.engines.flink.names import (
    BACKPRESSURED_MS,
    BUSY_MS,
    BUSY_PER_SECOND,
    IDLE_MS,
    LONGEST_URI,
    RECORDS_IN_PER_SECOND,
    TIMES,
    FlinkMetric,
    select_names,
    split_names,
)
from headgate.engines.flink.overview import read_values
from headgate.model.measures import Measure
from headgate.options.autoscaler import BusyTimeAggregator

Subtasks = Mapping[int, Counters]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadReading:
    """What is known of a vertex's load at one look."""

    values: Mapping[Measure, float] = field(default_factory=dict)
    subtasks: Subtasks = field(default_factory=dict)
    """Counters by subtask, to be compared with at the next look."""
    restarted: bool = False
    """Whether one of them has started anew since the look before."""


async def read_load(
    client: FlinkClient, path: str, *, look: Look, before: Subtasks, aggregator: BusyTimeAggregator
) -> LoadReading:
    """
    Read the load of a vertex from its counters with as few calls as do: none for the average or a single subtask.

    Args:
        client: the cluster.
        path: the vertex, `/jobs/:id/vertices/:id`.
        look: the look at the whole vertex.
        before: the subtasks' counters at the look before, of the same epoch.
        aggregator: whose load it is about.
    """
    if aggregator is BusyTimeAggregator.AVG:
        return LoadReading()
    if look.seen.reading.parallelism == 1:
        return LoadReading(values=_load_of_single(look))
    subtasks = await _read_subtasks(client, path, look.seen.reading.parallelism)
    return LoadReading(
        values=load_since(before, subtasks, aggregator), subtasks=subtasks, restarted=have_restarted(before, subtasks)
    )


def have_restarted(before: Subtasks, now: Subtasks) -> bool:
    """Tell whether a subtask counts from zero again, which the sum over many others may hide."""
    return any(index in before and now[index].fell_since(before[index]) for index in now)


def load_since(before: Subtasks, now: Subtasks, aggregator: BusyTimeAggregator) -> dict[Measure, float]:
    """Give LOAD and MEAN_LOAD, 0 to 1, over the subtasks whose clock moved; nothing when none did."""
    shares = [value for index in now if (value := _busy_share(before.get(index), now[index])) is not None]
    if not shares:
        return {}
    load = min(shares) if aggregator is BusyTimeAggregator.MIN else max(shares)
    return {Measure.LOAD: load, Measure.MEAN_LOAD: fmean(shares)}


def read_subtasks(values: Mapping[str, float | None], parallelism: int) -> dict[int, Counters]:
    """Sort the answer `0.accumulateBusyTimeMs`, ... by subtask; one that is not wholly known is left out."""
    found = {
        index: Counters(
            busy_ms=values.get(f"{index}.{BUSY_MS}"),
            idle_ms=values.get(f"{index}.{IDLE_MS}"),
            backpressured_ms=values.get(f"{index}.{BACKPRESSURED_MS}"),
        )
        for index in range(parallelism)
    }
    return {index: counters for index, counters in found.items() if counters.total_ms is not None}


async def _read_subtasks(client: FlinkClient, path: str, parallelism: int) -> dict[int, Counters]:
    query = f"{path}/metrics?get="
    names = (f"{index}.{name}" for index in range(parallelism) for name in TIMES)
    values: dict[str, float | None] = {}
    for part in split_names(names, LONGEST_URI - len(query)):
        values |= await client.get(query + part, read_values)
    return read_subtasks(values, parallelism)


async def read_gauges(client: FlinkClient, path: str) -> Gauges:
    """Read the gauges of a vertex that is no source, which every task has."""
    names = (BUSY_PER_SECOND, RECORDS_IN_PER_SECOND)
    values = await client.get(f"{path}/subtasks/metrics?get={','.join(names)}", read_aggregates)
    return merge(values, select_names(names, source=False))


def gauge_values(gauges: Gauges, aggregator: BusyTimeAggregator) -> dict[Measure, float]:
    """Give what the gauges tell: LOAD, and the input of a vertex that is no source."""
    values = {Measure.LOAD: load_of(gauges, aggregator)}
    if FlinkMetric.NUM_RECORDS_IN_PER_SEC in gauges:
        values[Measure.NUM_RECORDS_IN_PER_SECOND] = gauges[FlinkMetric.NUM_RECORDS_IN_PER_SEC].sum
    return {measure: value for measure, value in values.items() if not math.isnan(value)}


def _load_of_single(look: Look) -> dict[Measure, float]:
    if look.before is None:
        return {}
    load = _busy_share(look.before.reading.counters, look.seen.reading.counters)
    return {} if load is None else {Measure.LOAD: load, Measure.MEAN_LOAD: load}


def _busy_share(before: Counters | None, now: Counters) -> float | None:
    if before is None or before.total_ms is None or now.total_ms is None:
        return None
    return share(now.busy_ms, before.busy_ms, now.total_ms - before.total_ms)
