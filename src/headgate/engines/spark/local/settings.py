"""What the processes of a local Spark cluster are told so that they start fast, stay small and stay on loopback."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from headgate.engines.flink.local.loopback import HOST

THIS_PYTHON = Path(sys.executable)

DAEMON: Mapping[str, str] = {"spark.decommission.enabled": "true"}
"""For the master and the workers: SIGPWR lets a worker's executors finish their tasks first."""


def application(master_url: str, directory: Path, *, java_options: str) -> dict[str, str]:
    """Return the settings of an application, which its own win over; the options are those of each of its JVMs."""
    return {
        "spark.master": master_url,
        "spark.driver.host": HOST,
        "spark.driver.bindAddress": HOST,
        "spark.driver.memory": "512m",
        "spark.driver.extraJavaOptions": java_options,
        "spark.executor.memory": "512m",
        "spark.executor.cores": "1",
        "spark.executor.extraJavaOptions": java_options,
        "spark.decommission.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.warehouse.dir": str(directory / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }


def environment(
    *, spark_home: Path, java_home: Path, python: Path, directory: Path, java_options: str
) -> dict[str, str]:
    """Return this process's environment with what every process of the cluster needs; the options are its daemons'."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    return ours | {
        "JAVA_HOME": str(java_home),
        "PYSPARK_DRIVER_PYTHON": str(python),
        "PYSPARK_PYTHON": str(python),
        "PYTHONUNBUFFERED": "1",
        "SPARK_DAEMON_JAVA_OPTS": java_options,
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_HOME": str(spark_home),
        "SPARK_LOCAL_DIRS": str(directory / "tmp"),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false",
        "SPARK_PUBLIC_DNS": HOST,
    }


def write_properties(file: Path, settings: Mapping[str, str]) -> None:
    """
    Write the file of settings that a process of Spark is started with.

    A directory of configuration would stand on its class path, and keep it from what is recorded of Spark's classes.
    """
    lines = (f"{key} {value}\n" for key, value in sorted(settings.items()))
    file.write_text("".join(lines), encoding="utf-8")
