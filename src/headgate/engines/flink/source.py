"""
What only a source tells: its lag, its own input, the partitions it reads, and what it can do while it is behind.

A source's values come from one answer, so that they belong to one instant; only offsets of many partitions take more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from headgate.algorithm.observed import observed_rate
from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.counters import Counters
from headgate.engines.flink.gauges import Aggregate, Gauges, lag_of, merge, read_aggregates, records_read
from headgate.engines.flink.kafka import KafkaReading
from headgate.engines.flink.look import Look
from headgate.engines.flink.names import (
    BACKPRESSURED_MS,
    BUSY_MS,
    IDLE_MS,
    LONGEST_URI,
    RECORDS_IN,
    RECORDS_OUT,
    FlinkMetric,
    SourceNames,
    choose_names,
    split_names,
)
from headgate.engines.flink.numbers import number
from headgate.engines.flink.overview import read_names
from headgate.errors import UnreachableError

_NAMES_AGE = timedelta(minutes=1)
"""How long names are believed: partitions may come and connectors register their lag late."""

Values = Mapping[str, Aggregate]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownNames:
    """A source's names, and when they were read first and last."""

    names: SourceNames
    first_at: datetime
    read_at: datetime

    def is_due(self, at: datetime) -> bool:
        """Tell whether to read them again: when old, and at every tick of the first minute until there is a lag."""
        young = at - self.first_at < _NAMES_AGE
        return at - self.read_at >= _NAMES_AGE or (young and not self.names.tells_lag and at > self.read_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceReading:
    """One answer about a source."""

    known: KnownNames
    counters: Counters
    gauges: Gauges
    """What it counts by itself, and its gauges where they were asked for."""
    kafka: KafkaReading | None = None
    """What it tells of the partitions that it reads; None where it does not read Kafka."""

    @property
    def lag(self) -> float | None:
        """Records waiting; None when the connector does not tell, which is not a lag of 0."""
        return number(lag_of(self.gauges)) if FlinkMetric.PENDING_RECORDS in self.gauges else None


async def read_source(
    client: FlinkClient, path: str, *, known: KnownNames | None, at: datetime, gauges: bool, offsets: bool = False
) -> SourceReading | None:
    """
    Read a source's values; its names first where they are unknown or old.

    A name that is gone empties the whole answer, so an empty one is asked for again with fresh names.

    Args:
        client: the cluster.
        path: the source, `/jobs/:id/vertices/:id`.
        known: its names as they were read before.
        at: the tick.
        gauges: whether to read the gauges of rates and times too.
        offsets: whether to read how far it has read each partition of Kafka.

    Returns:
        None when the engine has no values of it yet.

    Raises:
        UnreachableError: the gauges are asked for, and one that they cannot do without is not there.
    """
    fresh = known is None or known.is_due(at)
    if known is None or fresh:
        known = await _read_names(client, path, known=known, at=at, offsets=offsets)
    values = await _read_values(client, path, known.names, gauges=gauges)
    if not values and not fresh:
        known = await _read_names(client, path, known=known, at=at, offsets=offsets)
        values = await _read_values(client, path, known.names, gauges=gauges)
    if not values:
        return None
    found, names = merge(values, known.names.selected), known.names.kafka
    return SourceReading(
        known=known,
        counters=counters_of(values, found),
        gauges=found,
        kafka=KafkaReading(names=names, values=values) if names else None,
    )


def counters_of(values: Values, gauges: Gauges) -> Counters:
    """Give a source's counters: its task's, but its own input, see `gauges.records_read`."""

    def of_task(name: str) -> float | None:
        return number(values[name].sum) if name in values else None

    in_task = of_task(RECORDS_IN)
    return Counters(
        records_in=number(records_read(math.nan if in_task is None else in_task, gauges)),
        records_out=of_task(RECORDS_OUT),
        busy_ms=of_task(BUSY_MS),
        idle_ms=of_task(IDLE_MS),
        backpressured_ms=of_task(BACKPRESSURED_MS),
        least_idle_ms=number(values[IDLE_MS].min) if IDLE_MS in values else None,
    )


def observed_since(look: Look, lag: float | None, lag_threshold_s: int, carried: float) -> float:
    """
    Give OBSERVED_TPR from differences of counters; NaN when nothing is known.

    Unlike with the reference autoscaler, reading nothing is no proof of endless capacity: not while something waits,
    or might wait, since such a source is stuck, and not any more once it reads again.
    """
    records, seconds = look.grown("records_in"), look.elapsed_s
    if records is None or seconds <= 0 or (records == 0 and lag != 0):
        return math.nan
    waiting = math.nan if lag is None else lag
    finite = carried if math.isfinite(carried) else math.nan
    return observed_rate(records / seconds, waiting, _backpressured_share(look), lag_threshold_s, finite)


def _backpressured_share(look: Look) -> float:
    grown_ms = look.grown("backpressured_ms") or 0.0
    return max(0.0, grown_ms / (look.elapsed_s * 1000 * look.seen.reading.parallelism))


async def _read_names(
    client: FlinkClient, path: str, *, known: KnownNames | None, at: datetime, offsets: bool
) -> KnownNames:
    names = choose_names(await client.get(f"{path}/subtasks/metrics", read_names), offsets=offsets)
    return KnownNames(names=names, first_at=known.first_at if known else at, read_at=at)


async def _read_values(client: FlinkClient, path: str, names: SourceNames, *, gauges: bool) -> Values:
    if gauges and names.missing:
        message = f"source {path} has no metric {', '.join(sorted(metric.name for metric in names.missing))}"
        raise UnreachableError(message)
    query = f"{path}/subtasks/metrics?get="
    values: dict[str, Aggregate] = {}
    for part in split_names(names.wanted(gauges=gauges), LONGEST_URI - len(query)):
        answered = await client.get(query + part, read_aggregates)
        if not answered:
            return {}  # what is known of the rest would be half of an answer
        values |= answered
    return values
