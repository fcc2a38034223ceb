"""Two queries that write Parquet; one of them fails in its own code while a file `fail` is there."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from diary import Diary, load  # type: ignore[import-not-found] # it lies beside this program
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import headgate
from headgate.engines.spark.source.work import Work, sleep_per_row

if TYPE_CHECKING:
    from pyarrow import RecordBatch

ROW_MS = 10
SCHEMA = "partition INT, offset LONG, value LONG"


def main(directory: Path, profile: str, start: str) -> None:
    """Run until asked to stop."""
    session = SparkSession.builder.appName("counted").getOrCreate()
    agent = headgate.attach(session)
    work = sleep_per_row(ROW_MS)
    orders = load(session, profile, start).mapInArrow(work, SCHEMA)
    faulty = load(session, "0s:5", start, partitions=2).mapInArrow(failing_while(directory / "fail"), SCHEMA)
    queries = {name: begin(name, stream, directory) for name, stream in (("orders", orders), ("faulty", faulty))}
    Diary(directory, agent).keep(session, queries)


def failing_while(sign: Path) -> Work:
    """Pass rows on, but raise an error as a user's own code may while a file is there."""

    def work(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
        for batch in batches:
            if sign.exists():
                message = "this row cannot be read"
                raise ValueError(message)
            yield batch

    return work


def begin(name: str, stream: DataFrame, directory: Path) -> StreamingQuery:
    """Write a stream to files, exactly once."""
    sink = stream.writeStream.queryName(name).format("parquet").option("path", str(directory / name))
    return (
        sink.option("checkpointLocation", str(directory / "checkpoints" / name))
        .trigger(processingTime="3 seconds")
        .start()
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
