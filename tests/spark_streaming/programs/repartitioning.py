"""A stateful query whose state is spread over other partitions, with and without success; what was seen as JSON."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from headgate.engines.spark.attached.repartition import Content, checkpoint_of, open_repartition, read_state
from headgate.engines.spark.attached.restart import Restarted
from headgate.engines.spark.attached.restartable import SessionQueries
from headgate.engines.spark.attached.restarts import QueryRestarts
from headgate.engines.spark.attached.start_settings import StartSettings
from headgate.model.decision import ConfigChanges

ROWS_PER_BATCH, KEYS = 5_000, 1_000
LIMIT_S = 120.0


def main(directory: Path) -> None:
    """Spread it over 8 and over 2, then once so that rows are missing, and let the query go on after each."""
    session = SparkSession.builder.appName("repartitioning").getOrCreate()
    made: list[Restarted] = []
    start = starting(session, directory)
    sound = SessionQueries(session)
    partitions = [partitions_after_batches(start(StartSettings()))]
    for queries, count in ((sound, 8), (sound, 2), (Spoilt(session), 4)):
        asyncio.run(spread(QueryRestarts(queries, {"counts": start}, report=made.append), count))
        partitions.append(partitions_after_batches(session.streams.active[0]))
    query = session.streams.active[0]
    query.stop()
    seen = {
        "failures": [one.failure for one in made],
        "partitions": partitions,
        "left": sorted(path.name for path in directory.iterdir() if path.name.startswith("checkpoint")),
        "rows": json.loads(progress_of(query)["sources"][0]["endOffset"])["offset"],
        "counted": counted(session, directory),
    }
    (directory / "seen.json").write_text(json.dumps(seen), encoding="utf-8")
    session.stop()


def starting(session: SparkSession, directory: Path) -> Callable[[StartSettings], StreamingQuery]:
    """Give the factory of the query, as an application would hand it over."""

    def start(settings: StartSettings) -> StreamingQuery:
        stream = session.readStream.format("rate-micro-batch").option("rowsPerBatch", ROWS_PER_BATCH)
        counts = stream.option("numPartitions", 2).load().selectExpr(f"value % {KEYS} AS key").groupBy("key").count()
        sink = counts.writeStream.queryName("counts").format("noop").outputMode("update")
        interval = settings.trigger_interval
        seconds = interval.total_seconds() if interval else 1
        sink = sink.trigger(processingTime=f"{seconds:g} seconds")
        return sink.option("checkpointLocation", str(directory / "checkpoint")).start()

    return start


async def spread(restarts: QueryRestarts, count: int) -> None:
    """Ask for so many partitions as a decision would, and wait for the restart."""
    await restarts.change(ConfigChanges(overrides={"spark.headgate.query.counts.state-partitions": str(count)}))
    await restarts.finished()


def partitions_after_batches(query: StreamingQuery) -> int:
    """Wait for two batches, and tell over how many partitions the state was spread."""
    deadline = time.monotonic() + LIMIT_S
    while len(query.recentProgress) < 2:
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.1)
    return int(progress_of(query)["stateOperators"][0]["numShufflePartitions"])


def progress_of(query: StreamingQuery) -> Any:
    """Give the progress of the last batch."""
    return query.lastProgress


class Spoilt(SessionQueries):
    """Sees a row less once the state was spread."""

    def repartition(self, query: Any, partitions: int) -> None:
        """Spread it all the same."""
        contents: list[Content] = []

        def read(checkpoint: str) -> Content:
            contents.append(read_state(self._session, checkpoint))
            return {name: (rows - len(contents) + 1, told) for name, (rows, told) in contents[-1].items()}

        repartition: Any = open_repartition(self._session)
        replace(repartition, read=read).make(checkpoint_of(query), partitions)


def counted(session: SparkSession, directory: Path) -> int:
    """Sum the counts in the state."""
    state = session.read.format("statestore").load(str(directory / "checkpoint"))
    return int(state.selectExpr("sum(value.count)").collect()[0][0])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
