"""Which sessions an agent refuses, each with one clear message."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from headgate.errors import UnsupportedError

OLDEST = (3, 5)
"""The oldest Spark on which it was tried."""

_BY_VARIABLE = {"DATABRICKS_RUNTIME_VERSION": "Databricks", "DATAPROC_WORKLOAD_TYPE": "Dataproc Serverless"}
"""Runtimes that size applications themselves, by a variable that is set in their drivers."""

_BY_SETTING = {
    # not `spark.databricks.` alone: the settings of Delta Lake begin like this on any cluster
    "spark.databricks.clusterUsageTags.": "Databricks",
    "spark.emr-serverless.": "EMR Serverless",
    "spark.glue.": "AWS Glue",
}
"""The same by what some of their settings begin with."""


def refuse_connect(target: Any) -> None:
    """
    Let only sessions and queries of this process's own driver pass.

    Raises:
        UnsupportedError: it is one of Spark Connect, or something else altogether.
    """
    kind = type(target)
    if kind.__module__.startswith("pyspark.sql.connect"):
        message = (
            "this is a Spark Connect session: its driver runs elsewhere, and a client cannot change its executors. "
            "Hint: attach in a program that runs in the driver, or let a Headgate service watch from outside"
        )
        raise UnsupportedError(message)
    if not kind.__module__.startswith("pyspark.sql"):
        message = f"{kind.__name__} is neither a SparkSession nor a StreamingQuery. Hint: headgate.attach(spark)"
        raise UnsupportedError(message)


def refuse_managed(conf: Mapping[str, str], environ: Mapping[str, str]) -> None:
    """
    Let no runtime pass that decides on executors itself.

    Raises:
        UnsupportedError: it is one.
    """
    named = [name for variable, name in _BY_VARIABLE.items() if variable in environ]
    named += [name for prefix, name in _BY_SETTING.items() if any(key.startswith(prefix) for key in conf)]
    if named:
        message = (
            f"{named[0]} decides on the executors of its applications itself: Headgate would fight with it. "
            "Hint: run the application on a standalone, YARN or Kubernetes cluster of your own"
        )
        raise UnsupportedError(message)


def refuse_old(version: str) -> None:
    """
    Let no Spark pass on which this was not tried.

    Raises:
        UnsupportedError: it is older than 3.5.
    """
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[: len(OLDEST)])
    if numbers < OLDEST:
        message = f"Spark {version} is too old. Hint: Headgate attaches to Spark {'.'.join(map(str, OLDEST))} and later"
        raise UnsupportedError(message)
