"""
Which of a vertex's metrics are its load, its lag, its input and its output, and how many partitions a source reads.

Flink answers a request that holds one unknown name with nothing at all, so names are discovered before they are used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from urllib.parse import quote

from headgate.engines.flink.kafka_names import KafkaNames, kafka_names

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


class FlinkMetric(Enum):
    """A metric of a vertex by the reference autoscaler's name: how Flink's name begins and how it ends."""

    BUSY_TIME_PER_SEC = (None, BUSY_PER_SECOND)
    BACKPRESSURE_TIME_PER_SEC = (None, "backPressuredTimeMsPerSecond")
    NUM_RECORDS_IN_PER_SEC = (None, RECORDS_IN_PER_SECOND)
    SOURCE_TASK_NUM_RECORDS_IN_PER_SEC = ("Source__", f".{RECORDS_IN_PER_SECOND}")
    SOURCE_TASK_NUM_RECORDS_OUT_PER_SEC = ("Source__", ".numRecordsOutPerSecond")
    SOURCE_TASK_NUM_RECORDS_IN = ("Source__", f".{RECORDS_IN}")
    SOURCE_TASK_NUM_RECORDS_OUT = ("Source__", f".{RECORDS_OUT}")
    PENDING_RECORDS = ("", ".pendingRecords")

    def fits(self, name: str) -> bool:
        """Tell whether Flink's name is one of this metric; without a beginning the end is the whole name."""
        begin, end = self.value
        return name == end if begin is None else name.startswith(begin) and name.endswith(end)


COUNTS = frozenset(
    {FlinkMetric.PENDING_RECORDS, FlinkMetric.SOURCE_TASK_NUM_RECORDS_IN, FlinkMetric.SOURCE_TASK_NUM_RECORDS_OUT}
)
"""What a source counts; the rest are gauges of rates and times."""
_GAUGES_OF_SOURCE = frozenset(
    {
        FlinkMetric.BUSY_TIME_PER_SEC,
        FlinkMetric.BACKPRESSURE_TIME_PER_SEC,
        FlinkMetric.SOURCE_TASK_NUM_RECORDS_IN_PER_SEC,
    }
)
_OF_INNER = frozenset({FlinkMetric.BUSY_TIME_PER_SEC, FlinkMetric.NUM_RECORDS_IN_PER_SEC})
_OPTIONAL = frozenset(
    {FlinkMetric.PENDING_RECORDS, FlinkMetric.SOURCE_TASK_NUM_RECORDS_OUT, FlinkMetric.NUM_RECORDS_IN_PER_SEC}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceNames:
    """The names that matter among a source's metrics. Where several fit, as in a chain of sources, all count."""

    selected: Mapping[str, FlinkMetric] = field(default_factory=dict)
    task_level: tuple[str, ...] = ()
    partitions: int | None = None
    """Distinct partitions among the names; None when they name none."""
    kafka: KafkaNames = field(default_factory=KafkaNames)

    @property
    def tells_lag(self) -> bool:
        """Whether the connector has a metric for waiting records; some have it late."""
        return FlinkMetric.PENDING_RECORDS in self.selected.values()

    @property
    def missing(self) -> frozenset[FlinkMetric]:
        """What the reference autoscaler cannot do without and this source does not have."""
        return missing_metrics(self.selected, source=True)

    def wanted(self, *, gauges: bool) -> tuple[str, ...]:
        """Give the names to ask for, each of which exists; the gauges only where they are used."""
        chosen = (name for name, metric in self.selected.items() if gauges or metric in COUNTS)
        return (*self.task_level, *chosen, *(() if gauges else self.kafka.wanted))


def choose_names(names: Iterable[str], *, offsets: bool = False) -> SourceNames:
    """Choose among the metric names of a source vertex; those of Kafka's offsets only where they are used."""
    ordered = sorted(names)
    known = set(ordered)
    return SourceNames(
        selected=select_names(ordered, source=True),
        task_level=tuple(name for name in _TASK_LEVEL if name in known),
        partitions=count_partitions(ordered),
        kafka=kafka_names(ordered, offsets=offsets),
    )


def select_names(names: Iterable[str], *, source: bool) -> dict[str, FlinkMetric]:
    """Give the names that the reference autoscaler asks for, and what each is (its `getFilteredVertexMetricNames`)."""
    metrics = _metrics_of(source=source)
    return {name: metric for name in names for metric in metrics if metric.fits(name)}


def missing_metrics(selected: Mapping[str, FlinkMetric], *, source: bool) -> frozenset[FlinkMetric]:
    """Give the metrics without which the reference autoscaler gives a job up, as far as none of the names is one."""
    return _metrics_of(source=source) - _OPTIONAL - frozenset(selected.values())


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


def _metrics_of(*, source: bool) -> frozenset[FlinkMetric]:
    return COUNTS | _GAUGES_OF_SOURCE if source else _OF_INNER


def _partition_of(name: str) -> re.Match[str] | None:
    # the cheap tests first: a source of 1,000 partitions has 20,000 names
    if name.endswith(".currentOffset"):
        return _KAFKA.search(name)
    return _PULSAR.search(name) if name.endswith(".numMsgsReceived") else None
