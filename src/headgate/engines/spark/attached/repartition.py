"""
State over another number of partitions, by Spark's offline repartition (4.2 and later, RocksDB). Experimental.

The only part of Headgate that runs Spark jobs in an application: it reads the state before and after to compare it. It
does so only while the query is stopped, and because somebody asked for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pyspark.sql.functions as F  # noqa: N812 - its usual name
from pyspark.sql import SparkSession

from headgate.engines.spark.attached.backend import translated
from headgate.engines.spark.attached.checkpoint import Files, HadoopFiles, Snapshot
from headgate.errors import HeadgateError, RefusedError

Content = Mapping[str, tuple[int, int]]
"""Of each state store: how many rows it has, and the sum of their hashes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateRepartition:
    """Spreads the state of a stopped query anew, and leaves its checkpoint as it was if anything is amiss."""

    files: Files
    read: Callable[[str], Content]
    """Reads the state of a checkpoint."""
    spread: Callable[[str, int], None]
    """Spreads it over so many partitions."""

    def make(self, checkpoint: str, partitions: int) -> None:
        """
        Copy the checkpoint, spread its state, compare, and take the copy back on any difference.

        Args:
            checkpoint: the directory of a query that does not run.
            partitions: how many there shall be.

        Raises:
            RefusedError: it was not done, and why; the checkpoint is as it was.
            UnrestoredError: it is not, and no query may be started from it.
        """
        before = self._read(checkpoint)
        snapshot = Snapshot(files=self.files, checkpoint=checkpoint)
        snapshot.take()
        try:
            self._spread(checkpoint, partitions)
            after = self._read(checkpoint)
            _confirm_same(before, after)
        except BaseException:
            snapshot.restore()
            raise
        snapshot.drop()

    def _read(self, checkpoint: str) -> Content:
        try:
            return self.read(checkpoint)
        except HeadgateError:
            raise
        except Exception as error:
            message = f"the state in {checkpoint} cannot be read, so nothing could be compared: {_told(error)}"
            raise RefusedError(message) from error

    def _spread(self, checkpoint: str, partitions: int) -> None:
        try:
            self.spread(checkpoint, partitions)
        except HeadgateError:
            raise
        except Exception as error:
            message = f"Spark did not spread the state in {checkpoint} over {partitions}: {_told(error)}"
            raise RefusedError(message) from error


def open_repartition(session: SparkSession) -> StateRepartition | None:
    """Give the repartition of this session's queries; None where its Spark has none."""
    manager = getattr(session, "_streamingCheckpointManager", None)
    if manager is None:
        return None
    return StateRepartition(
        files=HadoopFiles(session), read=lambda checkpoint: read_state(session, checkpoint), spread=manager.repartition
    )


def read_state(session: SparkSession, checkpoint: str) -> Content:
    """Read all state of a checkpoint as of its last batch; this runs Spark jobs."""
    stores = session.read.format("state-metadata").load(checkpoint).select("operatorId", "stateStoreName").distinct()
    return {
        f"{store.operatorId}/{store.stateStoreName}": _content(session, checkpoint, store) for store in stores.collect()
    }


def checkpoint_of(query: Any) -> str:
    """
    Tell where a query keeps its checkpoint, as an absolute path.

    Raises:
        HeadgateError: the JVM does not tell.
    """
    with translated():
        root: str = query._jsq.streamingQuery().resolvedCheckpointRoot()  # noqa: SLF001 - PySpark does not tell
    return root


def _content(session: SparkSession, checkpoint: str, store: Any) -> tuple[int, int]:
    reader = session.read.format("statestore").option("operatorId", store.operatorId)
    rows = reader.option("storeName", store.stateStoreName).load(checkpoint)
    # A sum of hashes does not depend on the order, nor on the partition; decimals do not overflow.
    hashes = F.sum(F.xxhash64("key", "value").cast("decimal(38,0)"))
    counted = rows.agg(F.count(F.lit(1)), hashes).collect()[0]
    return int(counted[0]), int(counted[1] or 0)


def _confirm_same(before: Content, after: Content) -> None:
    if before != after:
        told = {name: (before.get(name, (0, 0))[0], after.get(name, (0, 0))[0]) for name in {*before, *after}}
        rows = ", ".join(f"store {name}: {was} rows before, {now} after" for name, (was, now) in sorted(told.items()))
        message = f"the state was not the same after it was spread anew, so it was put back as it was ({rows})"
        raise RefusedError(message)


def _told(error: BaseException) -> str:
    """Give the line that says what happened; Py4J puts one before it that does not."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return next((line.removeprefix(": ") for line in lines if line.startswith(": ")), lines[0])
