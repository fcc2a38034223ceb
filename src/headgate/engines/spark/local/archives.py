"""Records the classes that Spark loads, once for each Java and Spark: later starts take half of the processor time."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

from headgate.engines.flink.local.cache import cached
from headgate.engines.spark.local import recorded

_ARCHIVE = "classes.jsa"
# Small and short-lived: an optimizing compiler would never earn back what it takes.
_FAST_START = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"


def fast_start(home: Path, *, java_home: Path, python: Path) -> str:
    """
    Return the options with which any process of a Spark starts fast; the first time, record its classes (a minute).

    A Java that cannot record them, or no longer matches what was recorded, starts as slowly as without. There must be
    no `conf` in that home, and no directory with anything in it before Spark's jars on the class path.
    """

    def record(directory: Path) -> None:
        options = f"{_FAST_START} -XX:ArchiveClassesAtExit={directory / _ARCHIVE} -Xlog:disable"
        submit = [str(home / "bin" / "spark-submit"), "--master", "local[2]", "--driver-java-options", options]
        ours = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
        told = {"JAVA_HOME": str(java_home), "PYSPARK_PYTHON": str(python), "SPARK_LOCAL_IP": "127.0.0.1"}
        subprocess.run(
            [*submit, recorded.__file__, str(directory / "work")],
            env=ours | told,
            cwd=directory,
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    archive = cached(f"{home.name}-classes-{_fingerprint(java_home)}", record) / _ARCHIVE
    return f"{_FAST_START} -XX:SharedArchiveFile={archive} -Xlog:disable" if archive.exists() else _FAST_START


def _fingerprint(java_home: Path) -> str:
    """Tell one Java from another, and from its own next release at the same place."""
    release = java_home / "release"
    text = release.read_text(encoding="utf-8") if release.exists() else ""
    return hashlib.sha256(f"{java_home} {text}".encode()).hexdigest()[:12]
