"""
What is asked of Prometheus, by the names that Flink's reporter gives its metrics.

A query names a metric and how far back to look, so that Prometheus gives every scrape with the time that it was made
at. An instant value would hide that, and stand in for a task that has ended for five minutes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from enum import Enum

from headgate.engines.flink.names import FlinkMetric

_TASK = "flink_taskmanager_job_task_"
_SOURCES = 'operator_name=~"Source:.*"'
_SCRAPES = 3
"""How many scrapes back: one that failed is bridged, and values that came after one query and before the next too."""


class Quantity(Enum):
    """What is read of a subtask: how the metric's name ends."""

    RECORDS_IN = "numRecordsIn"
    RECORDS_OUT = "numRecordsOut"
    BUSY_MS = "accumulateBusyTimeMs"
    IDLE_MS = "accumulateIdleTimeMs"
    BACKPRESSURED_MS = "accumulateBackPressuredTimeMs"
    SOURCE_RECORDS_IN = "operator_numRecordsIn"
    SOURCE_RECORDS_OUT = "operator_numRecordsOut"
    PENDING_RECORDS = "operator_pendingRecords"
    BUSY_PER_SECOND = "busyTimeMsPerSecond"
    BACKPRESSURED_PER_SECOND = "backPressuredTimeMsPerSecond"
    RECORDS_IN_PER_SECOND = "numRecordsInPerSecond"
    SOURCE_RECORDS_IN_PER_SECOND = "operator_numRecordsInPerSecond"
    SOURCE_RECORDS_OUT_PER_SECOND = "operator_numRecordsOutPerSecond"

    @property
    def matchers(self) -> tuple[str, ...]:
        """Give what series must have besides the name: of operators only sources count, but all that have a lag."""
        return (_SOURCES,) if self.value.startswith("operator_num") else ()


GAUGES: Mapping[Quantity, FlinkMetric] = {
    Quantity.BUSY_PER_SECOND: FlinkMetric.BUSY_TIME_PER_SEC,
    Quantity.BACKPRESSURED_PER_SECOND: FlinkMetric.BACKPRESSURE_TIME_PER_SEC,
    Quantity.RECORDS_IN_PER_SECOND: FlinkMetric.NUM_RECORDS_IN_PER_SEC,
    Quantity.SOURCE_RECORDS_IN_PER_SECOND: FlinkMetric.SOURCE_TASK_NUM_RECORDS_IN_PER_SEC,
    Quantity.SOURCE_RECORDS_OUT_PER_SECOND: FlinkMetric.SOURCE_TASK_NUM_RECORDS_OUT_PER_SEC,
}
"""Moving averages of about a minute: asked only where a job goes by them, or has no counters."""
COUNTS: Mapping[Quantity, FlinkMetric] = {
    Quantity.SOURCE_RECORDS_IN: FlinkMetric.SOURCE_TASK_NUM_RECORDS_IN,
    Quantity.SOURCE_RECORDS_OUT: FlinkMetric.SOURCE_TASK_NUM_RECORDS_OUT,
    Quantity.PENDING_RECORDS: FlinkMetric.PENDING_RECORDS,
}
COUNTERS = frozenset(Quantity) - GAUGES.keys() - {Quantity.PENDING_RECORDS}
"""What only grows; it belongs together by the scrape that it was taken at."""

_KAFKA = "operator_.*KafkaSourceReader_topic_partition_currentOffset"
_PULSAR = re.compile(r"operator_PulsarConsumer_(?P<topic>.+)_partition_(?P<partition>[0-9]+)_.*numMsgsReceived$")
_PARTITION_LABELS = ("__name__", "job_id", "task_id", "kafkaCluster", "topic", "partition")


class Queries:
    """The queries of one cluster."""

    def __init__(self, matchers: Mapping[str, str], scrape_interval: timedelta) -> None:
        """
        Keep what every query has.

        Args:
            matchers: labels and values that the cluster's series have.
            scrape_interval: how often it is scraped.
        """
        self._matchers = tuple(f"{label}={_quoted(value)}" for label, value in matchers.items())
        self._range = f"[{_SCRAPES * scrape_interval // timedelta(milliseconds=1)}ms]"

    def of_subtasks(self, quantity: Quantity) -> str:
        """Ask for a quantity of all subtasks of all jobs, as they were scraped."""
        return self.scraped(_TASK + quantity.value, *quantity.matchers)

    def scraped(self, metric: str, *further: str) -> str:
        """Ask for all series of a metric, as they were scraped."""
        return f"{metric}{self._selector(*further)}{self._range}"

    def partitions(self) -> str:
        """Ask for the partitions that sources read, without values."""
        name = f'__name__=~"{_TASK}({_KAFKA}|operator_PulsarConsumer_.+_partition_[0-9]+_.*numMsgsReceived)"'
        return f"group by ({', '.join(_PARTITION_LABELS)}) ({self._selector(name)})"

    def _selector(self, *further: str) -> str:
        return f"{{{','.join((*further, *self._matchers))}}}"


def partition_of(labels: Mapping[str, str]) -> tuple[str, ...]:
    """Give what tells a partition of a source from its others; Pulsar has it in the metric's name."""
    if "partition" in labels:
        return labels.get("kafkaCluster", ""), labels.get("topic", ""), labels["partition"]
    match = _PULSAR.search(labels.get("__name__", ""))
    return match.groups() if match else ()


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
