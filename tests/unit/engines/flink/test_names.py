"""Metric names of sources: which are chosen, and the partitions they mention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headgate.engines.flink.names import choose_names, count_partitions, split_names
from headgate.engines.flink.overview import read_names

Recorded = Callable[[str], Any]


def test_recorded_names(recorded: Recorded) -> None:
    """Among the names of a real source its lag, its input and its output are found."""
    names = choose_names(read_names(recorded("source_metric_names")))
    assert names.pending == ("Source__source.pendingRecords",)
    assert names.source_in == ("Source__source.numRecordsIn",)
    assert names.source_out == ("Source__source.numRecordsOut",)
    assert "accumulateBusyTimeMs" in names.task_level
    assert names.partitions is None


def test_all_sources_of_a_chain_count() -> None:
    """A chain of two sources has two lags; operators that are no sources are not taken."""
    names = choose_names(
        ["Source__a.pendingRecords", "Source__b.pendingRecords", "map.numRecordsIn", "Source__a.numRecordsIn"]
    )
    assert names.pending == ("Source__a.pendingRecords", "Source__b.pendingRecords")
    assert names.source_in == ("Source__a.numRecordsIn",)


def test_only_names_that_exist_are_wanted() -> None:
    """One unknown name would empty the answer."""
    assert choose_names(["numRecordsOut", "other"]).wanted == ("numRecordsOut",)


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
