"""The Eclipse compiler for Java, fetched from Maven: a compiler that needs only a Java runtime."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from headgate.engines.flink.local.cache import cached
from headgate.engines.flink.local.java import Java
from headgate.errors import PermanentError

# Debian's certificates for Java: they know a company's own authority, a packaged runtime's do not.
_SYSTEM_TRUST = Path("/etc/ssl/certs/java/cacerts")
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"

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
    maven = shutil.which("mvn")
    if maven is None:
        msg = (
            f"no Java compiler: Java {java.major} from {java.origin} has no javac, the path has none, "
            "and there is no mvn to fetch one with. Hint: install a JDK (17 or later) or Maven"
        )
        raise PermanentError(msg)
    artifact = f"-Dartifact=org.eclipse.jdt:ecj:{ECJ_VERSION}"
    command = [maven, "-q", "-B", _COPY, artifact, f"-DoutputDirectory={directory}"]
    environment = os.environ | {"JAVA_HOME": str(java.home), "MAVEN_OPTS": _maven_options()}
    # Outside any project, whose pom.xml Maven would otherwise read.
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        said = f"{done.stdout}{done.stderr}"[-2000:]
        msg = f"maven could not fetch the compiler ecj {ECJ_VERSION}:\n{said}"
        raise PermanentError(msg)


def _maven_options() -> str:
    given = os.environ.get("MAVEN_OPTS", "")
    return f"{given} -Djavax.net.ssl.trustStore={_SYSTEM_TRUST}" if _SYSTEM_TRUST.exists() else given
