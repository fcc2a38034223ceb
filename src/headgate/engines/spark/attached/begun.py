"""The batch that a query has planned last, from the query itself: its offsets are settled before its work begins."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from headgate.engines.spark.application import BegunBatch
from headgate.engines.spark.attached.starting import execution_of
from headgate.engines.spark.offsets import UNKNOWN, Lag, rows_between, total
from headgate.model.lag import LagOrigin


def begun_batch(query: Any) -> BegunBatch | None:
    """
    Give the batch that was planned last; None where this version, or the sources, do not tell, or planning goes on.

    Args:
        query: a Java object, as its session has it or as those that all sessions share are listed.
    """
    with suppress(Py4JError, PySparkException):
        return _begun(execution_of(query))
    return None


def _begun(execution: Any) -> BegunBatch | None:
    context = _context(execution)
    planned = _planned(execution, context)
    if planned is None:
        return None
    ends = _offsets(execution.availableOffsets())
    rows = _summed(_offsets(_starts(execution, context)), ends)
    lag = _summed(ends, _offsets(execution.latestOffsets()))
    # The time is written last when a batch is planned. Alike before and after, it says that all the rest belongs to it;
    # what knew of the batch before goes on telling of that one, so it is looked for anew.
    if rows is None or _planned(execution, _context(execution)) != planned:
        return None
    batch_id, counted_ms = planned
    return BegunBatch(
        batch_id=batch_id,
        at=datetime.fromtimestamp(counted_ms / 1000, UTC),
        rows=rows,
        lag=UNKNOWN if lag is None else Lag(rows=lag, origin=LagOrigin.OFFSETS),
    )


def _planned(execution: Any, context: Any) -> tuple[int, int] | None:
    """Give the latest batch and the time for which it was planned, in epoch milliseconds; None where there is none."""
    counted_ms = context.offsetSeqMetadata().batchTimestampMs() if context is not None else 0
    return (_batch_id(execution, context), counted_ms) if counted_ms else None


def _context(execution: Any) -> Any:
    """Give what knows of the latest batch: since Spark 4 a thing of its own."""
    with suppress(Py4JError):
        return execution.getLatestExecutionContext()
    return execution


def _batch_id(execution: Any, context: Any) -> int:
    return int(execution.currentBatchId() if context is execution else context.batchId())


def _starts(execution: Any, context: Any) -> Any:
    return execution.committedOffsets() if context is execution else context.startOffsets()


def _offsets(progress: Any) -> list[str | None]:
    """Give the offset of each source as text; a map's entries come in one order as long as the sources are the same."""
    return list(_each(progress.valuesIterator()))


def _each(offsets: Any) -> Iterator[str | None]:
    while offsets.hasNext():
        offset = offsets.next()
        yield None if offset is None else offset.json()


def _summed(begins: list[str | None], ends: list[str | None]) -> float | None:
    if len(begins) != len(ends):
        return None
    return total(rows_between(begin, end) for begin, end in zip(begins, ends, strict=True))
