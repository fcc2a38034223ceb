"""The Eclipse compiler for Java, fetched from Maven: a compiler that needs only a Java runtime."""

from __future__ import annotations

import shutil
from pathlib import Path

from headgate.engines.flink.local.cache import cached
from headgate.engines.flink.local.java import Java
from headgate.engines.flink.local.maven import copy_artifact
from headgate.errors import PermanentError

ECJ_VERSION = "3.38.0"
"""Runs on Java 17 and knows the class files of Java 21."""


def ecj_command(java: Java) -> list[str]:
    """
    Return the words that start the compiler, before its options.

    Raises:
        PermanentError: there is no Maven, or it cannot fetch the compiler.
    """
    entry = cached(f"ecj-{ECJ_VERSION}", lambda directory: _fetch(directory, java))
    return [str(java.executable), "-jar", str(entry / f"ecj-{ECJ_VERSION}.jar")]


def _fetch(directory: Path, java: Java) -> None:
    if shutil.which("mvn") is None:
        msg = (
            f"no Java compiler: Java {java.major} from {java.origin} has no javac, the path has none, "
            "and there is no mvn to fetch one with. Hint: install a JDK (17 or later) or Maven"
        )
        raise PermanentError(msg)
    copy_artifact(f"org.eclipse.jdt:ecj:{ECJ_VERSION}", directory, java)
