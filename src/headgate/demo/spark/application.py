"""An ordinary PySpark application. The two marked lines are all that makes its executors follow its load."""

import logging
import sys
from datetime import UTC, datetime

from pyspark.sql import SparkSession

import headgate  # <-- Headgate, line 1 of 2
from headgate.engines.spark.source.load import register
from headgate.engines.spark.source.work import sleep_per_row

profile, partitions, row_ms, trigger, checkpoint = sys.argv[1:]

logging.basicConfig()
spark = SparkSession.builder.appName("demo").getOrCreate()
headgate.attach(spark)  # <-- Headgate, line 2 of 2

# What would be Kafka and real work: a stream whose rows come as the profile says, and take so long each.
register(spark)
start = datetime.now(UTC).isoformat()
load = {"profile": profile, "partitions": partitions, "start": start}
rows = spark.readStream.format("headgate-load").options(**load).load()
worked = rows.mapInArrow(sleep_per_row(float(row_ms)), rows.schema)

query = (
    worked.writeStream.queryName("work")
    .format("noop")
    .option("checkpointLocation", checkpoint)
    .trigger(processingTime=trigger)
    .start()
)
print(f"the load starts at {start}", flush=True)  # noqa: T201
query.awaitTermination()
