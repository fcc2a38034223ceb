"""
What only a source tells: its lag, its own input, the partitions it reads, and what it can do while it is behind.

All of a source's values come from one answer, so that they belong to one instant.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.counters import Counters, merge
from headgate.engines.flink.look import Look
from headgate.engines.flink.names import (
    BACKPRESSURED_MS,
    BUSY_MS,
    IDLE_MS,
    LONGEST_URI,
    RECORDS_IN,
    RECORDS_OUT,
    SourceNames,
    choose_names,
    split_names,
)
from headgate.engines.flink.overview import read_names, read_sums
from headgate.model.samples import Measure

_NAMES_AGE = timedelta(minutes=1)
"""How long names are believed: partitions may come and connectors register their lag late."""

Values = Mapping[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownNames:
    """A source's names, and when they were read first and last."""

    names: SourceNames
    first_at: datetime
    read_at: datetime

    def is_due(self, at: datetime) -> bool:
        """Tell whether to read them again: when old, and at every tick of the first minute until there is a lag."""
        young = at - self.first_at < _NAMES_AGE
        return at - self.read_at >= _NAMES_AGE or (young and not self.names.pending and at > self.read_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceReading:
    """One answer about a source."""

    known: KnownNames
    counters: Counters
    lag: float | None
    """Records waiting; None when the connector does not tell."""


async def read_source(
    client: FlinkClient, path: str, *, known: KnownNames | None, at: datetime
) -> SourceReading | None:
    """
    Read a source's values; its names first where they are unknown or old.

    A name that is gone empties the whole answer, so an empty one is asked for again with fresh names.

    Returns:
        None when the engine has no values of it yet.
    """
    fresh = known is None or known.is_due(at)
    if known is None or fresh:
        known = await _read_names(client, path, known=known, at=at)
    values = await _read_values(client, path, known.names)
    if not values and not fresh:
        known = await _read_names(client, path, known=known, at=at)
        values = await _read_values(client, path, known.names)
    if not values:
        return None
    return SourceReading(known=known, counters=counters_of(values, known.names), lag=lag_of(values, known.names))


def counters_of(values: Values, names: SourceNames) -> Counters:
    """
    Give a source's counters.

    A source reads nothing from the network, so its task's `numRecordsIn` is 0; then its operator's input counts, and
    when that is 0 too (not every connector counts it) its operator's output. Never below 0.
    """
    candidates = (
        values.get(RECORDS_IN),
        merge(values, names.source_in),
        merge(values, names.source_out),
    )
    return Counters(
        records_in=max(0.0, next((value for value in candidates if value), 0.0)),
        records_out=values.get(RECORDS_OUT),
        busy_ms=values.get(BUSY_MS),
        idle_ms=values.get(IDLE_MS),
        backpressured_ms=values.get(BACKPRESSURED_MS),
    )


def lag_of(values: Values, names: SourceNames) -> float | None:
    """Sum all `pendingRecords`; None when the connector has no such metric, which is not a lag of 0."""
    return merge(values, names.pending)


def observed_rate(look: Look, lag: float | None, lag_threshold: timedelta) -> dict[Measure, float]:
    """
    Give OBSERVED_TPR: what a source that is behind really does, corrected for back-pressure.

    The rules of the reference autoscaler (its ScalingMetrics), on differences of counters instead of gauges. A source
    that is not behind observes nothing; one that is idle without lag could do anything, which is infinite.
    """
    records, seconds = look.grown("records_in"), look.elapsed_s
    if records is None or lag is None or seconds <= 0:
        return {}
    rate = records / seconds
    if rate == 0:
        return {Measure.OBSERVED_TPR: math.inf} if lag == 0 else {}
    backpressured = _backpressured_share(look)
    if lag < int(lag_threshold.total_seconds()) * rate or backpressured >= 1:
        return {}
    return {Measure.OBSERVED_TPR: rate / (1 - backpressured)}


def _backpressured_share(look: Look) -> float:
    grown_ms = look.grown("backpressured_ms") or 0.0
    return max(0.0, grown_ms / (look.elapsed_s * 1000 * look.seen.reading.parallelism))


async def _read_names(client: FlinkClient, path: str, *, known: KnownNames | None, at: datetime) -> KnownNames:
    names = choose_names(await client.get(f"{path}/subtasks/metrics", read_names))
    return KnownNames(names=names, first_at=known.first_at if known else at, read_at=at)


async def _read_values(client: FlinkClient, path: str, names: SourceNames) -> Values:
    query = f"{path}/subtasks/metrics?get="
    values: dict[str, float | None] = {}
    for part in split_names(names.wanted, LONGEST_URI - len(query)):
        values |= await client.get(query + part, read_sums)
    return values
