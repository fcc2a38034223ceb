"""Reads a load that has ended, in two runs of a query with one checkpoint; what was seen of its batches is JSON."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from headgate.engines.spark.source.load import register

LIMIT_S = 90.0


def main(directory: Path, start: str, most_rows: str) -> None:
    """Stop after a batch or two, then read the rest."""
    session = SparkSession.builder.appName("replay").getOrCreate()
    register(session)
    options = {"profile": "0s:400, 5s:0", "start": start, "partitions": "4", "skew": "1"}
    stream = session.readStream.format("headgate-load").options(**options, maxRowsPerTrigger=most_rows).load()
    sink = stream.writeStream.format("parquet").option("path", str(directory / "rows"))
    to_file = sink.option("checkpointLocation", str(directory / "checkpoint"))
    first = await_batches(to_file.trigger(processingTime="500 milliseconds").start(), 1)
    second = await_end(to_file.trigger(availableNow=True).start())
    rows = session.read.parquet(str(directory / "rows")).select("partition", "offset", "value").collect()
    seen = {"first": first, "second": second, "rows": [list(row) for row in rows]}
    (directory / "seen.json").write_text(json.dumps(seen), encoding="utf-8")
    session.stop()


def await_batches(query: StreamingQuery, count: int) -> list[Any]:
    """Wait for so many batches, stop the query, and give what it told of them."""
    deadline = time.monotonic() + LIMIT_S
    while query.isActive and len(query.recentProgress) < count and time.monotonic() < deadline:
        time.sleep(0.1)
    query.stop()
    return told(query)


def await_end(query: StreamingQuery) -> list[Any]:
    """Wait until it has read all there was."""
    query.awaitTermination(int(LIMIT_S))
    return told(query)


def told(query: StreamingQuery) -> list[Any]:
    """Give rows, and the end and the latest offsets of each batch."""
    batches = [progress for progress in query.recentProgress if progress["numInputRows"]]
    sources = [(progress["numInputRows"], progress["sources"][0]) for progress in batches]
    return [[rows, json.loads(source["endOffset"]), json.loads(source["latestOffset"])] for rows, source in sources]


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
