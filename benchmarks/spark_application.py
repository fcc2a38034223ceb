"""The application of the comparison on Spark: one query under a load, and what it writes of itself."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)
from pyspark.sql.streaming.query import StreamingQuery

import headgate
from headgate.engines.spark.attached.backend import DRIVER
from headgate.engines.spark.attached.lever import open_lever
from headgate.engines.spark.source.load import SCHEMA, register
from headgate.engines.spark.source.settings import NAME
from headgate.engines.spark.source.work import sleep_per_row

QUERY = "work"
_LOOK_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What the application is told."""

    source: dict[str, str]
    """Options of the load source."""
    row_ms: float
    """How long a row keeps a core."""
    interval_s: float
    """Between two triggers."""
    ends_at: float
    """When it ends, in seconds since 1970."""
    directory: str
    """Of its checkpoint and of what it writes of itself."""
    begins_with: int | None = None
    """Executors; None: those that Spark gives it."""
    attached: dict[str, str] | None = None
    """Headgate's options; None: without Headgate."""

    @property
    def record(self) -> Path:
        """One line of JSON for each batch and one for each second."""
        return Path(self.directory) / "record.jsonl"

    def text(self) -> str:
        """Write it as the program's argument."""
        return json.dumps(asdict(self))


def main(task: Task) -> None:
    """Run the query until the end."""
    spark = SparkSession.builder.appName(f"bench-{Path(task.directory).name}").getOrCreate()
    with task.record.open("a", encoding="utf-8", buffering=1) as record:
        spark.streams.addListener(Batches(record))
        threading.Thread(target=_watch, args=(spark, record), daemon=True).start()
        if task.begins_with is not None:
            asyncio.run(_begin_with(spark, task.begins_with))
        query = _start(spark, task)
        agent = None if task.attached is None else headgate.attach(spark, task.attached)
        query.awaitTermination(max(1, round(task.ends_at - time.time())))
        query.stop()
        del agent
        spark.stop()


class Batches(StreamingQueryListener):
    """Writes a line for every batch that had rows."""

    def __init__(self, record: TextIO) -> None:
        """Write nothing yet."""
        self._record = record

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802
        """Do nothing."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        """Write the batch down."""
        told = json.loads(event.progress.json)
        began = datetime.fromisoformat(told["timestamp"]).astimezone(UTC).timestamp()
        batch = {"at": began, "took_s": told["durationMs"]["triggerExecution"] / 1000, "rows": told["numInputRows"]}
        if batch["rows"]:
            self._record.write(json.dumps(batch) + "\n")

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        """Do nothing."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        """Do nothing."""


def _start(spark: SparkSession, task: Task) -> StreamingQuery:
    register(spark)
    rows = spark.readStream.format(NAME).options(**task.source).load()
    worked = rows.mapInArrow(sleep_per_row(task.row_ms), SCHEMA)
    writer = worked.writeStream.format("noop").queryName(QUERY)
    placed = writer.option("checkpointLocation", f"{task.directory}/checkpoint")
    return placed.trigger(processingTime=f"{task.interval_s} seconds").start()


async def _begin_with(spark: SparkSession, count: int) -> None:
    """Let those executors go, or come, that standalone Spark gave without being asked."""
    lever = open_lever(spark)
    while len((await lever.executors()).ids) != count:
        await lever.request(count)
        await asyncio.sleep(0.5)


def _watch(spark: SparkSession, record: TextIO) -> None:
    """Write down each second how many cores the driver knows, and how many tasks failed by then."""
    store: Any = spark.sparkContext._jsc.sc().statusStore()
    while True:
        listed = store.executorList(False)  # noqa: FBT003 - Spark's argument has no name here
        executors = [one for one in (listed.apply(index) for index in range(listed.size())) if one.id() != DRIVER]
        alive = [one for one in executors if one.isActive()]
        failed = sum(one.failedTasks() for one in executors)
        seen = {"at": time.time(), "executors": len(alive), "cores": sum(one.totalCores() for one in alive)}
        record.write(json.dumps({**seen, "failed": failed}) + "\n")
        time.sleep(_LOOK_S)


if __name__ == "__main__":
    main(Task(**json.loads(sys.argv[1])))
