"""Records the classes that Spark loads, once for each Java and Spark: later starts take half of the processor time."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

from headgate.engines.flink.local.cache import cached
from headgate.engines.flink.local.java import release_of
from headgate.engines.spark.local import recorded, settings

_ARCHIVE = "classes.jsa"
# Small and short-lived: an optimizing compiler would never earn back what it takes.
_FAST_START = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"


def fast_start(home: Path, *, java_home: Path, python: Path) -> str:
    """
    Return the options with which any process of a Spark starts fast; the first time, record its classes (40 s).

    A Java that cannot record them, or no longer matches what was recorded, starts as slowly as without. There must be
    no `conf` in that home, and no directory with anything in it before Spark's jars on the class path.
    """

    def record(directory: Path) -> None:
        options = f"{_FAST_START} -XX:ArchiveClassesAtExit={directory / _ARCHIVE} -Xlog:disable"
        submit = [str(home / "bin" / "spark-submit"), "--master", "local[2]", "--driver-java-options", options]
        subprocess.run(
            [*submit, recorded.__file__, str(directory / "work")],
            env=settings.environment(
                spark_home=home, java_home=java_home, python=python, directory=directory / "work", java_options=""
            ),
            cwd=directory,
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    java = hashlib.sha256(f"{java_home} {release_of(java_home)}".encode()).hexdigest()[:12]
    archive = cached(f"{home.name}-classes-{java}", record) / _ARCHIVE
    return f"{_FAST_START} -XX:SharedArchiveFile={archive} -Xlog:disable" if archive.exists() else _FAST_START
