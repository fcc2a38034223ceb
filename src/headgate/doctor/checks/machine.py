"""Whether this machine has what the pipeline needs."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.doctor.facts import MachineFacts, Tried
from headgate.doctor.findings import Finding, broken, fine

_WITHOUT = "or set `pipeline: in-process`, which needs neither Java nor Spark and suits a few jobs"


def check_machine(facts: MachineFacts) -> Iterator[Finding]:
    """Check Java, PySpark, and whether they start."""
    if facts.java is None and facts.pyspark is None:
        yield fine("Java and Spark", "not needed: `pipeline: in-process`")
    yield from _tried("Java", facts.java, remedy=f"set JAVA_HOME to a Java 17 or later, {_WITHOUT}")
    yield from _tried("Spark", facts.pyspark, remedy=f"install PySpark 4 or later beside Headgate, {_WITHOUT}")
    yield from _tried("a Spark session", facts.session, remedy=f"look at spark.master and spark.settings, {_WITHOUT}")


def _tried(check: str, found: Tried | None, *, remedy: str) -> Iterator[Finding]:
    if found is None:
        return
    if found.fault is None:
        yield fine(check, found.told)
    else:
        yield broken(
            check, found.fault, why="samples are reduced on Spark, so nothing is decided without it", remedy=remedy
        )
