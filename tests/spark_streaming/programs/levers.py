"""A stateful query that goes on while its executors come and go; what was seen is written as JSON."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from headgate.engines.spark.attached.lever import BackendLever, open_lever

ROWS_PER_BATCH = 20_000
LIMIT_S = 120.0
ACTIVE_AND_DEAD = False


def main(directory: Path, keys: int) -> None:
    """Go down to one executor and up to all again, each while batches run."""
    runner = asyncio.Runner()
    session = SparkSession.builder.appName("levers").getOrCreate()
    lever = open_lever(session)
    query = begin(session, directory, keys)
    most = 3
    runner.run(lever.request(most))
    until(lambda: executors(session) == most)
    await_batches(query, 3)
    steps = [step(runner, session, lever, query, count) for count in (1, most)]
    query.stop()
    seen = {
        "steps": steps,
        "failed tasks": failed_tasks(session),
        "rows": (last_batch(query) + 1) * ROWS_PER_BATCH,
        "counted": counted(session, directory),
        "batches": [[one["batchId"], one["durationMs"]["triggerExecution"]] for one in query.recentProgress],
    }
    (directory / "seen.json").write_text(json.dumps(seen), encoding="utf-8")
    session.stop()


def begin(session: SparkSession, directory: Path, keys: int) -> StreamingQuery:
    """Count rows by key."""
    stream = session.readStream.format("rate-micro-batch").option("rowsPerBatch", ROWS_PER_BATCH)
    counts = stream.option("numPartitions", 6).load().selectExpr(f"value % {keys} AS key").groupBy("key").count()
    sink = counts.writeStream.queryName("counts").format("noop").outputMode("update")
    return sink.option("checkpointLocation", str(directory / "checkpoint")).trigger(processingTime="1 second").start()


def step(
    runner: asyncio.Runner, session: SparkSession, lever: BackendLever, query: StreamingQuery, count: int
) -> dict[str, Any]:
    """Ask for so many executors, and see them come or go."""
    before, began = last_batch(query), time.monotonic()
    sent, again = runner.run(lever.request(count)), runner.run(lever.request(count))
    until(lambda: executors(session) == count)
    took = time.monotonic() - began
    await_batches(query, 4)
    cores = runner.run(lever.executors()).cores
    return {"cores": cores, "sent": sent, "again": again, "after batch": before, "took s": took}


def await_batches(query: StreamingQuery, count: int) -> None:
    """Wait for further batches."""
    first = last_batch(query)
    until(lambda: last_batch(query) >= first + count)


def last_batch(query: StreamingQuery) -> int:
    """Tell which batch ended last, -1 before the first."""
    progress = query.lastProgress
    return progress["batchId"] if progress else -1


def until(reached: Callable[[], bool]) -> None:
    """Wait for a condition."""
    deadline = time.monotonic() + LIMIT_S
    while not reached():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.1)


def executors(session: SparkSession) -> int:
    """Count the executors that are there, those on their way out included."""
    return sum(one.isActive() for one in listed(session))


def failed_tasks(session: SparkSession) -> int:
    """Count failed tasks on all executors that there ever were."""
    return sum(one.failedTasks() for one in listed(session))


def listed(session: SparkSession) -> list[Any]:
    """Give what the driver knows of all executors."""
    context: Any = session.sparkContext
    known = context._jsc.sc().statusStore().executorList(ACTIVE_AND_DEAD)
    return [known.apply(index) for index in range(known.size()) if known.apply(index).id() != "driver"]


def counted(session: SparkSession, directory: Path) -> int:
    """Sum the counts in the state."""
    state = session.read.format("statestore").load(str(directory / "checkpoint"))
    return int(state.selectExpr("sum(value.count)").collect()[0][0])


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
