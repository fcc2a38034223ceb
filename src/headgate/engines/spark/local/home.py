"""Where the Spark of an interpreter's PySpark lies, and what a `local-cluster` leaves in it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

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


def link_home(spark_home: Path, directory: Path) -> Path:
    """
    Return a directory that works as `SPARK_HOME`, but holds no Python code.

    Spark would let its Python workers import PySpark from the archive in there, which takes three times as long as from
    the interpreter's own packages, because nothing in an archive is kept compiled.
    """
    home = directory / "home"
    home.mkdir(parents=True, exist_ok=True)
    for part in ("bin", "jars"):
        (home / part).unlink(missing_ok=True)
        (home / part).symlink_to(spark_home / part, target_is_directory=True)
    return home


def remove_work(spark_home: Path) -> None:
    """Delete what executors of a `local-cluster` master wrote: they work inside of the installed package."""
    shutil.rmtree(spark_home / "work", ignore_errors=True)
