"""
The busy share of the hottest or coldest subtask, from differences of each subtask's own counters.

Flink's gauge `busyTimeMsPerSecond` averages over the last minute; it is asked only where the counters are not there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.counters import Counters, share
from headgate.engines.flink.look import Look
from headgate.engines.flink.names import (
    BACKPRESSURED_MS,
    BUSY_MS,
    BUSY_PER_SECOND,
    IDLE_MS,
    LONGEST_URI,
    RECORDS_IN_PER_SECOND,
    TIMES,
    split_names,
)
from headgate.engines.flink.numbers import number
from headgate.engines.flink.overview import read_values
from headgate.model.samples import Measure
from headgate.options.autoscaler import BusyTimeAggregator

Subtasks = Mapping[int, Counters]
_AGGREGATES = {BusyTimeAggregator.AVG: "avg", BusyTimeAggregator.MAX: "max", BusyTimeAggregator.MIN: "min"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadReading:
    """What is known of a vertex's load at one look."""

    values: Mapping[Measure, float] = field(default_factory=dict)
    subtasks: Subtasks = field(default_factory=dict)
    """Counters by subtask, to be compared with at the next look."""


async def read_load(
    client: FlinkClient, path: str, *, look: Look, before: Subtasks, aggregator: BusyTimeAggregator
) -> LoadReading:
    """
    Read the load of a vertex with as few calls as do: none for the average or a single subtask.

    Args:
        client: the cluster.
        path: the vertex, `/jobs/:id/vertices/:id`.
        look: the look at the whole vertex.
        before: the subtasks' counters at the look before, of the same epoch.
        aggregator: whose load it is about.
    """
    reading = look.seen.reading
    if reading.counters.busy_ms is None:
        return LoadReading(values=await _read_gauges(client, path, aggregator))
    if aggregator is BusyTimeAggregator.AVG:
        return LoadReading()
    if reading.parallelism == 1:
        return LoadReading(values=_load_of_single(look))
    subtasks = await _read_subtasks(client, path, reading.parallelism)
    return LoadReading(values=load_of(before, subtasks, aggregator), subtasks=subtasks)


def load_of(before: Subtasks, now: Subtasks, aggregator: BusyTimeAggregator) -> dict[Measure, float]:
    """Give LOAD, 0 to 1, over the subtasks whose clock moved; nothing when none did."""
    shares = [value for index in now if (value := _busy_share(before.get(index), now[index])) is not None]
    if not shares:
        return {}
    return {Measure.LOAD: min(shares) if aggregator is BusyTimeAggregator.MIN else max(shares)}


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


async def _read_gauges(client: FlinkClient, path: str, aggregator: BusyTimeAggregator) -> dict[Measure, float]:
    query = f"{path}/subtasks/metrics?get={BUSY_PER_SECOND},{RECORDS_IN_PER_SECOND}"
    return await client.get(query, lambda answer: dict(_gauges(answer, _AGGREGATES[aggregator])))


def _gauges(answer: Any, aggregate: str) -> Iterator[tuple[Measure, float]]:
    for entry in answer:
        if entry["id"] == BUSY_PER_SECOND and (busy := number(entry.get(aggregate))) is not None:
            yield Measure.LOAD, max(0.0, busy) / 1000
        if entry["id"] == RECORDS_IN_PER_SECOND and (rate := number(entry.get("sum"))) is not None:
            yield Measure.NUM_RECORDS_IN_PER_SECOND, rate


def _load_of_single(look: Look) -> dict[Measure, float]:
    if look.before is None:
        return {}
    load = _busy_share(look.before.reading.counters, look.seen.reading.counters)
    return {} if load is None else {Measure.LOAD: load}


def _busy_share(before: Counters | None, now: Counters) -> float | None:
    if before is None or before.total_ms is None or now.total_ms is None:
        return None
    return share(now.busy_ms, before.busy_ms, now.total_ms - before.total_ms)
