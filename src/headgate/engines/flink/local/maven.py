"""Jars from Maven, with all that they need, into the cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from headgate.engines.flink.local.cache import cached
from headgate.engines.flink.local.java import Java
from headgate.errors import PermanentError

# Debian's certificates for Java: they know a company's own authority, a packaged runtime's do not.
_SYSTEM_TRUST = Path("/etc/ssl/certs/java/cacerts")
_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"


def maven_jars(pom: Path, java: Java) -> Path:
    """
    Return the directory with the jars that a POM depends on.

    Raises:
        PermanentError: there is no Maven, or it cannot fetch them.
    """
    fingerprint = hashlib.sha256(pom.read_bytes()).hexdigest()[:12]

    def fill(directory: Path) -> None:
        words = [f"{_PLUGIN}:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={directory}"]
        run_maven(["-f", str(pom), *words], java, cwd=directory, what=f"the jars of {pom.stem}")

    return cached(f"{pom.stem}-{fingerprint}", fill)


def copy_artifact(artifact: str, directory: Path, java: Java) -> None:
    """
    Put one artifact, `group:name:version`, into a directory.

    Raises:
        PermanentError: there is no Maven, or it cannot fetch it.
    """
    words = [f"{_PLUGIN}:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={directory}"]
    run_maven(words, java, cwd=directory, what=artifact)


def run_maven(words: list[str], java: Java, *, cwd: Path, what: str) -> None:
    """
    Run Maven outside of any project, whose pom.xml it would otherwise read.

    Raises:
        PermanentError: there is none, or it fails; the text holds its words.
    """
    maven = shutil.which("mvn")
    if maven is None:
        msg = f"there is no mvn to fetch {what} with. Hint: install Maven"
        raise PermanentError(msg)
    environment = os.environ | {"JAVA_HOME": str(java.home), "MAVEN_OPTS": _options()}
    command = [maven, "-q", "-B", *words]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        said = f"{done.stdout}{done.stderr}"[-2000:]
        msg = f"maven could not fetch {what}:\n{said}"
        raise PermanentError(msg)


def _options() -> str:
    given = os.environ.get("MAVEN_OPTS", "")
    return f"{given} -Djavax.net.ssl.trustStore={_SYSTEM_TRUST}" if _SYSTEM_TRUST.exists() else given
