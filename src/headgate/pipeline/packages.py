"""What the pipeline needs that Spark does not bring: Spark fetches it, unless the settings bring jars of their own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyspark

from headgate.config.secrets import resolve
from headgate.errors import UnreachableError
from headgate.options.service import LogOptions, ServiceOptions

KAFKA = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{pyspark.__version__}"
"""Spark's connector to Kafka."""

_HADOOP = "hadoop-client-api-"
"""The jar of PySpark that tells the version of Hadoop: what reads buckets must be of the same."""


_PATIENCE = {
    "retry.limit": "3",
    "attempts.maximum": "3",
    "connection.establish.timeout": "5s",
    "connection.timeout": "30s",
    # The one that reads ahead, the default since Hadoop 3.5, starts a hundred threads for files that are read once.
    "input.stream.type": "classic",
}
"""Of S3A, by whose defaults a store that is away for seconds holds up a cycle for minutes; the next one asks again."""


def session_settings(options: ServiceOptions) -> Mapping[str, str]:
    """
    Give the settings of Spark that the options name, with what log and samples need.

    Raises:
        UnreachableError: a secret that they refer to is not there, or nobody knows what to fetch.
    """
    settings = {**_store_settings(options.log), **_own(options)}
    if {"spark.jars", "spark.jars.packages"} & settings.keys():
        return settings
    packages = [*_packages(options)]
    return {**settings, "spark.jars.packages": ",".join(packages)} if packages else settings


def _own(options: ServiceOptions) -> Mapping[str, str]:
    try:
        return {name: resolve(value) for name, value in options.spark_settings.items()}
    except ValueError as error:
        message = f"spark.settings: {error}"
        raise UnreachableError(message) from error


def _packages(options: ServiceOptions) -> Iterator[str]:
    if options.samples.received:
        yield KAFKA
    if options.log.directory is None:
        yield f"org.apache.hadoop:hadoop-aws:{_hadoop_version()}"


def _store_settings(log: LogOptions) -> Mapping[str, str]:
    if log.directory is not None:
        return {}
    settings = dict(_PATIENCE)
    if log.endpoint is not None:
        settings["endpoint"] = log.endpoint
        settings["endpoint.region"] = os.environ.get("AWS_REGION", "us-east-1")
        # A store of one's own is seldom reached by a host name for each bucket.
        settings["path.style.access"] = "true"
    return {f"spark.hadoop.fs.s3a.{name}": value for name, value in settings.items()}


def _hadoop_version() -> str:
    jars = Path(pyspark.__file__).parent / "jars"
    for jar in jars.glob(f"{_HADOOP}*.jar"):
        return jar.stem.removeprefix(_HADOOP)
    message = f"{jars} has no Hadoop. Hint: name the jars that read s3a: in `spark.settings`, as `spark.jars`"
    raise UnreachableError(message)
