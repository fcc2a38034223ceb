"""The Flink distribution: the jars in the Python package `apache-flink-libraries`, unpacked only."""

from __future__ import annotations

from pathlib import Path

from headgate.engines.flink.local.progress import Progress, silently
from headgate.engines.flink.local.wheels import unpacked_wheel
from headgate.errors import PermanentError

FLINK_VERSION = "2.3.0"


def flink_home(version: str = FLINK_VERSION, *, progress: Progress = silently) -> Path:
    """
    Return the directory with Flink's `lib` and `plugins`; the first time, fetch it (330 MB).

    It has no `conf` and no start scripts: `LocalCluster` needs neither.

    Args:
        version: one that the package index has as a wheel, so 2.x.
        progress: told before each step that takes seconds.

    Raises:
        PermanentError: it cannot be fetched, or is not a Flink distribution.
    """
    home = unpacked_wheel("apache-flink-libraries", version, progress=progress) / "pyflink"
    flink_version(home)
    return home


def flink_version(home: Path) -> str:
    """
    Return the version of a distribution, read from the name of its main jar.

    Raises:
        PermanentError: the directory has no such jar.
    """
    jars = sorted((home / "lib").glob("flink-dist-*.jar"))
    if not jars:
        msg = f"no Flink in {home}: lib/flink-dist-*.jar is missing. Hint: delete the directory and try again"
        raise PermanentError(msg)
    return jars[0].stem.removeprefix("flink-dist-")


def classpath(home: Path) -> str:
    """Return every jar of Flink's `lib`, in the order of their names, as Java's `-cp` takes it."""
    return ":".join(str(jar) for jar in sorted((home / "lib").glob("*.jar")))
