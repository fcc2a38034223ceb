"""A Flink job from Kafka to Kafka whose capacity is known exactly: its jar, built with Kafka's connector in it."""

from __future__ import annotations

from pathlib import Path

from headgate.engines.flink.local.compile import Program, compiled_jar
from headgate.engines.flink.local.java import Java
from headgate.engines.flink.local.maven import maven_jars
from headgate.engines.flink.local.progress import Progress, silently

ENTRY_CLASS = "headgate.loadjob.KafkaJob"
_HERE = Path(__file__).parent
_POM = _HERE / "connector-pom.xml"
_BESIDE = _HERE.parent / "loadjob" / "java" / "Cost.java"
"""What a record costs is the load job's."""


def build_kafka_jar(java: Java, flink_home: Path, *, progress: Progress = silently) -> Path:
    """
    Return the jar, compiled unless the cache has it for these sources and this Flink.

    Raises:
        PermanentError: there is no Java compiler, no Maven, or it cannot fetch the connector.
    """
    progress("fetching Kafka's connector")
    libraries = tuple(maven_jars(_POM, java).glob("*.jar"))
    sources = (*(_HERE / "java").glob("*.java"), _BESIDE)
    program = Program(name="headgate-kafkajob", main_class=ENTRY_CLASS, sources=sources, libraries=libraries)
    return compiled_jar(program, java=java, flink_home=flink_home, progress=progress)
