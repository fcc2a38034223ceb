"""What is run so that its classes are recorded: a table written, read and reduced, and a stream of some batches."""

from __future__ import annotations

import shutil
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody gives it


def main(directory: str) -> None:
    """Write below a directory, which is deleted afterwards."""
    spark = SparkSession.builder.config("spark.ui.enabled", "false").getOrCreate()
    numbers = spark.range(1000).select((F.col("id") % 7).alias("key"), F.col("id").alias("value"))
    numbers.write.parquet(f"{directory}/table")
    table = spark.read.parquet(f"{directory}/table")
    table.groupBy("key").agg(F.sum("value"), F.max_by("value", "key")).toArrow()
    table.mapInArrow(lambda batches: batches, table.schema).count()
    rows = spark.readStream.schema(table.schema).option("maxFilesPerTrigger", 1).parquet(f"{directory}/table")
    sink = rows.writeStream.format("parquet").option("path", f"{directory}/sink")
    query = sink.option("checkpointLocation", f"{directory}/checkpoint").trigger(availableNow=True).start()
    query.awaitTermination()
    spark.stop()
    shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1])
