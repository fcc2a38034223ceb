"""Where the Spark of an interpreter's PySpark lies, and what a `local-cluster` leaves in it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from headgate.engines.flink.local.cache import cached
from headgate.errors import PermanentError

_FIND = "from importlib.util import find_spec as f; print(f('pyspark').submodule_search_locations[0])"


def find_spark_home(python: Path) -> Path:
    """
    Return the `SPARK_HOME` of an interpreter: the PySpark that is installed beside it.

    Raises:
        PermanentError: there is none.
    """
    asked = subprocess.run([str(python), "-c", _FIND], capture_output=True, text=True, check=False)
    if asked.returncode:
        message = f"{python} has no PySpark. Hint: install pyspark there"
        raise PermanentError(message)
    return Path(asked.stdout.strip())


def lean_home(spark_home: Path) -> Path:
    """
    Return a directory that works as `SPARK_HOME`, but holds no Python code; the same one for the same jars.

    Spark would let its Python workers import PySpark from the archive in there, which takes three times as long as from
    the interpreter's own packages, because nothing in an archive is kept compiled. And what is recorded of Spark's
    classes holds for jars at one place only, while an interpreter's packages come and go.
    """
    jars = sorted((spark_home / "jars").glob("*.jar"))
    version = next(jar.stem.rpartition("-")[2] for jar in jars if jar.name.startswith("spark-core_"))

    def fill(directory: Path) -> None:
        shutil.copytree(spark_home / "bin", directory / "bin")
        shutil.copytree(spark_home / "jars", directory / "jars", copy_function=_link)

    sizes = " ".join(f"{jar.name}:{jar.stat().st_size}" for jar in jars)
    return cached(f"spark-{version}-{hashlib.sha256(sizes.encode()).hexdigest()[:12]}", fill)


def _link(source: str, target: str) -> None:
    """Give a file a second name, or copy it where that cannot be."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def remove_work(spark_home: Path) -> None:
    """Delete what executors of a `local-cluster` master wrote: they work inside of the installed package."""
    shutil.rmtree(spark_home / "work", ignore_errors=True)
