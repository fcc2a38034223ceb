"""A streaming application that knows nothing of an autoscaler: five milliseconds of work a row."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

from pyspark.sql import SparkSession

from headgate.engines.spark.source.load import register
from headgate.engines.spark.source.work import sleep_per_row


def main(directory: Path, profile: str) -> None:
    """Run until killed."""
    session = SparkSession.builder.appName("unmodified").getOrCreate()
    register(session)
    start = datetime.now(UTC).isoformat()
    options = {"profile": profile, "start": start, "partitions": "4", "maxRowsPerTrigger": "200"}
    orders = session.readStream.format("headgate-load").options(**options).load()
    worked = orders.mapInArrow(sleep_per_row(5), "partition INT, offset LONG, value LONG")
    sink = worked.writeStream.queryName("orders").format("noop").trigger(processingTime="1 second")
    sink.option("checkpointLocation", str(directory / "checkpoint")).start().awaitTermination()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
