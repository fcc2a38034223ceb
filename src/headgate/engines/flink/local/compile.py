"""
Compiles Java sources against Flink's jars into a jar in the cache.

Takes `javac` where there is one, else the ECJ compiler from Maven, so that a Java runtime is enough.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from headgate.engines.flink.local.cache import cached
from headgate.engines.flink.local.distribution import classpath, flink_version
from headgate.engines.flink.local.ecj import ecj_command
from headgate.engines.flink.local.java import OLDEST_JAVA, Java
from headgate.engines.flink.local.progress import Progress, silently
from headgate.errors import PermanentError

_OF_THE_JAR = (".MF", ".SF", ".RSA", ".DSA")


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """Java sources that make one jar."""

    name: str
    """The jar's name without its ending."""
    main_class: str
    """Full name of the class to run."""
    sources: Sequence[Path]
    libraries: Sequence[Path] = ()
    """Jars that the program needs and Flink does not have: their content becomes part of its own."""


def compiled_jar(program: Program, *, java: Java, flink_home: Path, progress: Progress = silently) -> Path:
    """
    Return the program's jar, compiled for Java 17 unless the cache has it for the same sources and Flink.

    Raises:
        PermanentError: no compiler, or the sources do not compile; the text holds the compiler's words.
    """

    def fill(directory: Path) -> None:
        progress(f"compiling {program.name}")
        classes = directory / "classes"
        _compile(program, classes, java=java, flink_home=flink_home)
        _write_jar(directory / f"{program.name}.jar", classes, program)
        shutil.rmtree(classes)

    entry = cached(f"{program.name}-{_fingerprint(program, flink_home)}", fill)
    return entry / f"{program.name}.jar"


def _fingerprint(program: Program, flink_home: Path) -> str:
    digest = hashlib.sha256(f"{program.main_class}\n{flink_version(flink_home)}\n".encode())
    digest.update("".join(f"{jar.name}\n" for jar in sorted(program.libraries)).encode())
    for source in sorted(program.sources):
        content = source.read_bytes()
        digest.update(f"{source.name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def _compile(program: Program, classes: Path, *, java: Java, flink_home: Path) -> None:
    classes.mkdir()
    level = str(OLDEST_JAVA)
    command = [*_compiler(java), "-source", level, "-target", level, "-encoding", "UTF-8", "-nowarn"]
    path = os.pathsep.join([classpath(flink_home), *map(str, program.libraries)])
    command += ["-cp", path, "-d", str(classes), *map(str, sorted(program.sources))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        msg = f"the Java sources do not compile:\n{done.stdout}{done.stderr}"
        raise PermanentError(msg)


def _compiler(java: Java) -> list[str]:
    own = java.home / "bin" / "javac"
    javac = str(own) if own.exists() else shutil.which("javac")
    return [javac] if javac else ecj_command(java)


def _write_jar(jar: Path, classes: Path, program: Program) -> None:
    manifest = f"Manifest-Version: 1.0\r\nMain-Class: {program.main_class}\r\n\r\n"
    with ZipFile(jar, "w", ZIP_DEFLATED) as archive:
        archive.writestr("META-INF/MANIFEST.MF", manifest)
        for compiled in sorted(classes.rglob("*.class")):
            archive.write(compiled, compiled.relative_to(classes))
        for library in sorted(program.libraries):
            _take_over(library, archive)


def _take_over(library: Path, archive: ZipFile) -> None:
    """Copy what a jar holds; its manifest and signatures are of the jar that it was, and of two alike one is enough."""
    there = set(archive.namelist())
    with ZipFile(library) as other:
        for member in other.infolist():
            signed = member.filename.startswith("META-INF/") and member.filename.endswith(_OF_THE_JAR)
            if not member.is_dir() and not signed and member.filename not in there:
                archive.writestr(member.filename, other.read(member))
