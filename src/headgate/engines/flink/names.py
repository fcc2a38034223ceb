"""
Which of a source's metrics are its lag, its input and its output, and how many partitions it reads.

Flink answers a request that holds one unknown name with nothing at all, so names are discovered before they are used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import quote

LONGEST_URI = 4_000
"""Characters of a request line that every server and proxy takes: Netty's own limit is 4,096."""

RECORDS_IN, RECORDS_OUT = "numRecordsIn", "numRecordsOut"
BUSY_MS, IDLE_MS, BACKPRESSURED_MS = (
    "accumulateBusyTimeMs",
    "accumulateIdleTimeMs",
    "accumulateBackPressuredTimeMs",
)
BUSY_PER_SECOND = "busyTimeMsPerSecond"
RECORDS_IN_PER_SECOND = "numRecordsInPerSecond"
TIMES = (BUSY_MS, IDLE_MS, BACKPRESSURED_MS)
_TASK_LEVEL = (RECORDS_IN, RECORDS_OUT, *TIMES)

_KAFKA = re.compile(
    r"(?:\.kafkaCluster\.(?P<cluster>.+))?"
    r"\.KafkaSourceReader\.topic\.(?P<topic>.+)\.partition\.(?P<partition>\d+)\.currentOffset$"
)
_PULSAR = re.compile(r"\.PulsarConsumer\.(?P<topic>.+)-partition-(?P<partition>\d+)\..*numMsgsReceived$")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceNames:
    """The names that matter among a source's metrics. Where several fit, as in a chain of sources, all count."""

    pending: tuple[str, ...] = ()
    """Records waiting; empty when the connector has no such metric, or not yet."""
    source_in: tuple[str, ...] = ()
    source_out: tuple[str, ...] = ()
    task_level: tuple[str, ...] = ()
    partitions: int | None = None
    """Distinct partitions among the names; None when they name none."""

    @property
    def wanted(self) -> tuple[str, ...]:
        """Names to ask for, each of which exists."""
        return (*self.task_level, *self.pending, *self.source_in, *self.source_out)


def choose_names(names: Iterable[str]) -> SourceNames:
    """Choose among the metric names of a source vertex (the reference autoscaler's table of names)."""
    ordered = sorted(names)
    known = set(ordered)
    return SourceNames(
        pending=tuple(name for name in ordered if name.endswith(".pendingRecords")),
        source_in=tuple(_of_source_operators(ordered, RECORDS_IN)),
        source_out=tuple(_of_source_operators(ordered, RECORDS_OUT)),
        task_level=tuple(name for name in _TASK_LEVEL if name in known),
        partitions=count_partitions(ordered),
    )


def count_partitions(names: Iterable[str]) -> int | None:
    """Count the distinct Kafka and Pulsar partitions that metric names mention; None when there are none."""
    found = {match.groups() for name in names if (match := _partition_of(name)) is not None}
    return len(found) or None


def split_names(names: Iterable[str], room: int) -> Iterator[str]:
    """
    Join names by commas, percent-encoded, into parts of at most `room` characters.

    A name that is longer than `room` is a part of its own.
    """
    part = ""
    for name in map(quote, names):
        longer = f"{part},{name}" if part else name
        if part and len(longer) > room:
            yield part
            longer = name
        part = longer
    if part:
        yield part


def _of_source_operators(names: Iterable[str], metric: str) -> Iterator[str]:
    return (name for name in names if name.startswith("Source__") and name.endswith(f".{metric}"))


def _partition_of(name: str) -> re.Match[str] | None:
    # the cheap tests first: a source of 1,000 partitions has 20,000 names
    if name.endswith(".currentOffset"):
        return _KAFKA.search(name)
    return _PULSAR.search(name) if name.endswith(".numMsgsReceived") else None
