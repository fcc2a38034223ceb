"""The application of the comparison on Spark: one query under a load, and what it writes of itself."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
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
from pyspark.sql.streaming.readwriter import DataStreamWriter

import headgate
from headgate.algorithm.explain import explain
from headgate.engines.spark.attached.backend import DRIVER, SchedulerBackend
from headgate.engines.spark.attached.lever import BackendLever
from headgate.engines.spark.source.load import SCHEMA, register
from headgate.engines.spark.source.settings import NAME
from headgate.engines.spark.source.work import sleep_per_row

QUERY = "work"
_LOOK_S = 1.0
_AHEAD = timedelta(seconds=10)
"""Of the load, to start the query."""
_WARMING_PER_S = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What the application is told."""

    source: dict[str, str]
    """Options of the load source, without the start."""
    row_ms: float
    """How long a row keeps a core."""
    interval_s: float
    """Between two triggers."""
    duration_s: float
    """From the start of the load, which begins when there are executors, to the end."""
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
    register(spark)
    asyncio.run(_await_executors(spark, task.begins_with))
    _warm_up(spark, task)
    with task.record.open("a", encoding="utf-8", buffering=1) as record:
        spark.streams.addListener(Batches(record))
        threading.Thread(target=_watch, args=(spark, record), daemon=True).start()
        starts_at = datetime.now(UTC) + _AHEAD
        record.write(json.dumps({"starts_at": starts_at.timestamp()}) + "\n")
        source = task.source | {"start": starts_at.isoformat()}
        query = _written(spark, task, source, QUERY).trigger(processingTime=f"{task.interval_s} seconds").start()
        agent = None if task.attached is None else headgate.attach(spark, task.attached)
        query.awaitTermination(round(starts_at.timestamp() + task.duration_s - time.time()))
        query.stop()
        if agent is not None:
            print("\n".join(line for decision in agent.decisions for line in (f"{decision.at}", *explain(decision))))
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


def _warm_up(spark: SparkSession, task: Task) -> None:
    """Let executors start their Python, which takes longer than any batch: as of a job that has run for a while."""
    before = datetime.now(UTC) - _AHEAD
    source = task.source | {"start": before.isoformat(), "profile": f"0:{_WARMING_PER_S}"}
    query = _written(spark, task, source, "warming").trigger(availableNow=True).start()
    query.awaitTermination()


def _written(spark: SparkSession, task: Task, source: dict[str, str], name: str) -> DataStreamWriter:
    rows = spark.readStream.format(NAME).options(**source).load()
    writer = rows.mapInArrow(sleep_per_row(task.row_ms), SCHEMA).writeStream.format("noop").queryName(name)
    return writer.option("checkpointLocation", f"{task.directory}/{name}")


async def _await_executors(spark: SparkSession, count: int | None) -> None:
    """Wait for some executor, or for exactly so many: standalone Spark gives all that it can without being asked."""
    backend = SchedulerBackend(spark)
    lever = BackendLever(backend)
    while (present := len(backend.look().executors)) != count:
        if count is not None:
            await lever.request(count)
        elif present:
            return
        await asyncio.sleep(_LOOK_S)


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
