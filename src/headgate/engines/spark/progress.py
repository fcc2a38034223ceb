"""One progress report of a streaming query, as Spark writes it in JSON, and what is known besides -> `MicroBatch`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import Any

from headgate.engines.spark.application import QuerySettings
from headgate.engines.spark.offsets import INFERRED, Lag, Listing, lag_of
from headgate.model.lag import LagOrigin
from headgate.model.micro_batch import MicroBatch, StageWork

_WELL_BEFORE = 0.8
"""Share of the trigger interval: a batch that took no more of it leaves nothing waiting."""
BELOW_LIMIT = 0.95
"""Share of a limit from which it may have held the batch back: sources that split it by partitions round down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What the progress does not tell of its batch."""

    cores: int
    """Of the executors alive when it ended."""
    stages: tuple[StageWork, ...] = ()
    """Empty when nobody remembers them."""
    settings: QuerySettings = field(default_factory=QuerySettings)
    listing: Listing | None = None


def query_of(progress: Mapping[str, Any]) -> str:
    """Give the query's name, or its id where it has none."""
    return str(progress.get("name") or progress["id"])


def is_batch(progress: Mapping[str, Any]) -> bool:
    """Tell whether a batch ran; Spark also reports now and then that a query waits."""
    return "addBatch" in _phases(progress)


def read_batch(progress: Mapping[str, Any], around: Circumstances) -> MicroBatch | None:
    """Give the batch; None where the progress is of none, or nothing can be read from it."""
    try:
        return _read(progress, around) if is_batch(progress) else None
    except (KeyError, ValueError, TypeError, OverflowError):
        return None


def _read(progress: Mapping[str, Any], around: Circumstances) -> MicroBatch:
    phases, states = _phases(progress), _listed(progress, "stateOperators")
    duration, rows = _duration(progress, phases), _rows(progress)
    lag = _lag(progress, around, rows=rows, duration=duration)
    return MicroBatch(
        query=query_of(progress),
        run_id=str(progress["runId"]),
        batch_id=int(progress["batchId"]),
        started_at=datetime.fromisoformat(progress["timestamp"]).astimezone(UTC),
        duration=duration,
        rows=rows,
        cores=around.cores,
        stages=around.stages,
        lag=lag.rows,
        lag_origin=lag.origin,
        interval=around.settings.interval,
        limit=around.settings.row_limit,
        state_rows=sum(_count(state.get("numRowsTotal")) for state in states),
        state_bytes=sum(_bytes(state) for state in states),
        phases=phases,
    )


def _lag(progress: Mapping[str, Any], around: Circumstances, *, rows: int, duration: timedelta) -> Lag:
    settings = around.settings
    within = settings.row_limit is None or rows < BELOW_LIMIT * settings.row_limit
    lag = lag_of(_listed(progress, "sources"), took_all=within, listing=around.listing)
    if lag.origin is not LagOrigin.UNKNOWN or not settings.takes_all or settings.interval is None:
        return lag
    return INFERRED if duration <= _WELL_BEFORE * settings.interval else lag


def _phases(progress: Mapping[str, Any]) -> dict[str, timedelta]:
    known = progress.get("durationMs") or {}
    return {name: timedelta(milliseconds=_count(ms)) for name, ms in known.items()}


def _duration(progress: Mapping[str, Any], phases: Mapping[str, timedelta]) -> timedelta:
    told = _count(progress.get("batchDuration"))
    return timedelta(milliseconds=told) if told else phases["triggerExecution"]


def _rows(progress: Mapping[str, Any]) -> int:
    if "numInputRows" in progress:
        return _count(progress["numInputRows"])
    return sum(_count(source.get("numInputRows")) for source in _listed(progress, "sources"))


def _bytes(state: Mapping[str, Any]) -> int:
    """Give the larger of what a store has in memory and, for RocksDB, on disk: that is what moves."""
    custom = state.get("customMetrics") or {}
    return max(_count(state.get("memoryUsedBytes")), _count(custom.get("rocksdbSstFileSize")))


def _listed(progress: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]]:
    return progress.get(name) or ()


def _count(value: Any) -> int:
    """Read a count or a time in milliseconds; what is unknown, no number or below zero is 0."""
    known = isinstance(value, int | float) and isfinite(value)
    return max(0, int(value)) if known else 0
