"""Three queries that share the executors of one application; one of them counts, and keeps its counts in RocksDB."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from diary import Diary, load  # type: ignore[import-not-found] # it lies beside this program
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col
from pyspark.sql.streaming.query import StreamingQuery

import headgate
from headgate.engines.spark.source.work import sleep_per_row

SCHEMA = "partition INT, offset LONG, value LONG"
KEYS = 50
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def main(directory: Path, profile: str) -> None:
    """Run until asked to stop."""
    session = SparkSession.builder.appName("three").getOrCreate()
    session.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    session.conf.set("spark.sql.shuffle.partitions", "2")
    agent = headgate.attach(session)
    stream = partial(load, session, profile, datetime.now(UTC).isoformat(), partitions=2)
    queries = {
        "orders": begin("orders", stream().mapInArrow(sleep_per_row(8), SCHEMA), directory),
        "clicks": begin("clicks", stream().mapInArrow(sleep_per_row(2), SCHEMA), directory),
        "totals": count("totals", stream().groupBy((col("value") % KEYS).alias("key")).count(), directory),
    }
    Diary(directory, agent).keep(session, queries)


def begin(name: str, stream: DataFrame, directory: Path) -> StreamingQuery:
    """Write a stream nowhere."""
    sink = stream.writeStream.queryName(name).format("noop").trigger(processingTime="4 seconds")
    return sink.option("checkpointLocation", str(directory / "checkpoints" / name)).start()


def count(name: str, counts: DataFrame, directory: Path) -> StreamingQuery:
    """Write what each batch has changed to a place of its own: written twice, it is there once."""

    def write(changed: DataFrame, batch: int) -> None:
        changed.coalesce(1).write.mode("overwrite").parquet(str(directory / name / str(batch)))

    sink = counts.writeStream.queryName(name).outputMode("update").foreachBatch(write)
    sink = sink.option("checkpointLocation", str(directory / "checkpoints" / name))
    return sink.trigger(processingTime="4 seconds").start()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
