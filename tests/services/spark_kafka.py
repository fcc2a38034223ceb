"""Spark's connector to Kafka, from the jars that `make services` fetches."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.engines.flink.local.cache import cache_root


def settings() -> Mapping[str, str]:
    """Give settings with which a Spark session can read from Kafka; none where the jars are not here."""
    folders = sorted(cache_root().glob("spark-kafka-*"))
    return {"spark.jars": ",".join(map(str, sorted(folders[-1].glob("*.jar"))))} if folders else {}
