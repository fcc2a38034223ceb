"""Metric names of sources: which are chosen, and the partitions they mention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headgate.engines.flink.names import (
    FlinkMetric,
    choose_names,
    count_partitions,
    missing_metrics,
    select_names,
    split_names,
)
from headgate.engines.flink.overview import read_names

Recorded = Callable[[str], Any]


def test_recorded_names(recorded: Recorded) -> None:
    """Among the names of a real source its lag, its input and its output are found."""
    names = choose_names(read_names(recorded("source_metric_names")))
    assert names.selected == {
        "Source__source.pendingRecords": FlinkMetric.PENDING_RECORDS,
        "Source__source.numRecordsIn": FlinkMetric.SOURCE_TASK_NUM_RECORDS_IN,
        "Source__source.numRecordsOut": FlinkMetric.SOURCE_TASK_NUM_RECORDS_OUT,
        "Source__source.numRecordsInPerSecond": FlinkMetric.SOURCE_TASK_NUM_RECORDS_IN_PER_SEC,
        "busyTimeMsPerSecond": FlinkMetric.BUSY_TIME_PER_SEC,
        "backPressuredTimeMsPerSecond": FlinkMetric.BACKPRESSURE_TIME_PER_SEC,
    }
    assert not names.missing
    assert "accumulateBusyTimeMs" in names.task_level
    assert names.partitions is None


def test_all_sources_of_a_chain_count() -> None:
    """A chain of two sources has two lags; operators that are no sources are not taken."""
    names = choose_names(
        ["Source__a.pendingRecords", "Source__b.pendingRecords", "map.numRecordsIn", "Source__a.numRecordsIn"]
    )
    assert list(names.selected) == [
        "Source__a.numRecordsIn",
        "Source__a.pendingRecords",
        "Source__b.pendingRecords",
    ]


def test_only_names_that_exist_are_wanted() -> None:
    """One unknown name would empty the answer."""
    assert choose_names(["numRecordsOut", "other"]).wanted(gauges=True) == ("numRecordsOut",)


def test_gauges_are_wanted_only_where_they_are_used() -> None:
    """Counts suffice for differences."""
    names = choose_names(["Source__a.pendingRecords", "busyTimeMsPerSecond"])
    assert names.wanted(gauges=False) == ("Source__a.pendingRecords",)
    assert names.wanted(gauges=True) == ("Source__a.pendingRecords", "busyTimeMsPerSecond")


def test_a_source_without_a_lag_lacks_nothing_that_is_required() -> None:
    """But one whose operator counts no input does, and so does a vertex without busy time."""
    required = ["busyTimeMsPerSecond", "backPressuredTimeMsPerSecond", "Source__a.numRecordsInPerSecond"]
    without_input = select_names(required, source=True)
    assert missing_metrics(without_input, source=True) == {FlinkMetric.SOURCE_TASK_NUM_RECORDS_IN}
    assert not missing_metrics(select_names([*required, "Source__a.numRecordsIn"], source=True), source=True)
    assert missing_metrics({}, source=False) == {FlinkMetric.BUSY_TIME_PER_SEC}


def test_kafka_partitions_are_told_apart_by_cluster_and_topic() -> None:
    """Two topics, and the same partition in two clusters, are four partitions; a repeated one is not five."""
    reader = "KafkaSourceReader.topic"
    names = [
        f"Source__k.{reader}.orders.partition.0.currentOffset",
        f"Source__k.{reader}.orders.partition.0.committedOffset",
        f"Source__k.{reader}.orders.v2.partition.0.currentOffset",
        f"Source__k.kafkaCluster.east.{reader}.orders.partition.0.currentOffset",
        f"Source__k.kafkaCluster.west.{reader}.orders.partition.0.currentOffset",
        f"Source__other.{reader}.orders.partition.0.currentOffset",
    ]
    assert count_partitions(names) == 4


def test_pulsar_partitions_are_counted() -> None:
    """Pulsar's consumers name topic and partition."""
    names = [f"Source__p.PulsarConsumer.orders-partition-{number}.sub.numMsgsReceived" for number in range(3)]
    assert count_partitions(names) == 3


def test_no_partitions_is_unknown() -> None:
    """A connector that names none has an unknown number, not none."""
    assert count_partitions(["numRecordsIn"]) is None


def test_long_requests_are_split_between_names() -> None:
    """No part is longer than the room, and together they hold every name once."""
    names = [f"{index}.accumulateBusyTimeMs" for index in range(400)]
    parts = list(split_names(names, 3_900))
    assert len(parts) > 1
    assert max(map(len, parts)) <= 3_900
    assert ",".join(parts).split(",") == names


def test_odd_names_are_encoded() -> None:
    """A name may hold what a query must not."""
    assert list(split_names(["a&b", "c d"], 100)) == ["a%26b,c%20d"]
