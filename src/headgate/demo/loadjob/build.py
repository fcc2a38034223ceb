"""Builds the load job's jar from the Java sources beside this file."""

from __future__ import annotations

from pathlib import Path

from headgate.engines.flink.local.compile import Program, compiled_jar
from headgate.engines.flink.local.java import Java
from headgate.engines.flink.local.progress import Progress, silently

ENTRY_CLASS = "headgate.loadjob.LoadJob"


def build_jar(java: Java, flink_home: Path, *, progress: Progress = silently) -> Path:
    """
    Return the jar, compiled unless the cache has it for these sources and this Flink.

    Raises:
        PermanentError: there is no Java compiler and none can be fetched.
    """
    sources = tuple((Path(__file__).parent / "java").glob("*.java"))
    program = Program(name="headgate-loadjob", main_class=ENTRY_CLASS, sources=sources)
    return compiled_jar(program, java=java, flink_home=flink_home, progress=progress)
