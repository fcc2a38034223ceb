"""The demo's Kafka broker, for tests."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.cimpl import NewPartitions

from headgate.demo.kafka.broker import LIMIT, PASSWORD, USER, Broker, broker_jars
from headgate.engines.flink.local.java import Java, find_java
from headgate.errors import PermanentError

__all__ = ["PASSWORD", "USER", "Kafka", "running"]
_PATIENCE_S = LIMIT.total_seconds()


class Kafka(Broker):
    """A running broker, with what tests do to it."""

    def extend(self, topic: str, partitions: int) -> None:
        """Give a topic more partitions, so that it has so many."""
        admin = self.admin()
        admin.create_partitions([NewPartitions(topic, partitions)])[topic].result(_PATIENCE_S)

    def delete(self, topic: str) -> None:
        """Delete a topic."""
        admin = self.admin()
        admin.delete_topics([topic])[topic].result(_PATIENCE_S)

    def produce(self, topic: str, records: Mapping[int, int]) -> None:
        """Write so many records to each of these partitions."""
        producer = Producer({"bootstrap.servers": self.address, "log_level": 0})
        for partition, count in records.items():
            for _ in range(count):
                producer.produce(topic, b"record", partition=partition)
        assert producer.flush(_PATIENCE_S) == 0

    def commit(self, group: str, topic: str, offsets: Mapping[int, int]) -> None:
        """Commit offsets as a consumer of the group would, the only one there is."""
        consumer = Consumer({"bootstrap.servers": self.address, "group.id": group, "log_level": 0})
        try:
            partitions = [TopicPartition(topic, number, offset) for number, offset in offsets.items()]
            consumer.commit(offsets=partitions, asynchronous=False)
        finally:
            consumer.close()


def jars_or_skip(java: Java) -> None:
    """Skip where the broker's jars are not here, and cannot be fetched."""
    try:
        broker_jars(java)
    except PermanentError as error:
        pytest.skip(f"there are no jars of Kafka in the cache, and they cannot be fetched: make services ({error})")


@contextmanager
def running() -> Iterator[Kafka]:
    """Run a broker as long as needed; skips where its jars or Java are not here."""
    if shutil.which("java") is None:
        pytest.skip("there is no Java on the path")
    java = find_java()
    jars_or_skip(java)
    with TemporaryDirectory(prefix="headgate-kafka-") as folder, Kafka(java, Path(folder)) as broker:
        yield broker
