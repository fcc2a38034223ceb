"""Writes numbered records to a topic at a steady pace, and counts what is in one for good."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence

from confluent_kafka import Consumer, Producer, TopicPartition

PARTITIONS = 8
_TICK_S = 0.02
_FLUSH_S = 60
_QUIET_S = 3.0
"""Without a further record for so long a topic has been read to its end."""


class Writer:
    """
    Writes to some partitions alike, in a thread; what the broker does not take while it is away comes afterwards.

    Attributes:
        per_s: records; may be set at any time.
        written: records so far, numbered from 0.
    """

    def __init__(self, brokers: str, topic: str, partitions: Sequence[int] = range(PARTITIONS)) -> None:
        """Write nothing yet; a partition that is named several times gets as many records more."""
        self.per_s = 0.0
        self._partitions = partitions
        self.written = 0
        self._topic = topic
        self._settings = {"bootstrap.servers": brokers, "enable.idempotence": True, "log_level": 0}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> int:
        """End, wait until all is written for good, and give how many records that are; may be called again."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(2 * _FLUSH_S)
        return self.written

    def _write(self) -> None:
        producer, before_s, owed = Producer(self._settings), time.monotonic(), 0.0
        while not self._over.wait(_TICK_S):
            now_s = time.monotonic()
            owed, before_s = owed + (now_s - before_s) * self.per_s, now_s
            while owed >= 1:
                partition = self._partitions[self.written % len(self._partitions)]
                producer.produce(self._topic, str(self.written).encode(), partition=partition)
                self.written, owed = self.written + 1, owed - 1
            producer.poll(0)
        producer.flush(_FLUSH_S)


def committed_records(brokers: str, topic: str) -> Counter[int]:
    """Count how often each number stands in a topic, by what a consumer sees that reads committed records alone."""
    settings = {"bootstrap.servers": brokers, "group.id": "count", "isolation.level": "read_committed"}
    consumer = Consumer({**settings, "enable.auto.commit": False, "log_level": 0})
    consumer.assign([TopicPartition(topic, number, 0) for number in range(PARTITIONS)])
    found, latest_s = Counter[int](), time.monotonic()
    while time.monotonic() - latest_s < _QUIET_S:
        records = consumer.consume(10_000, timeout=0.5)
        numbers = [int(value) for record in records if record.error() is None and (value := record.value())]
        if numbers:
            found.update(numbers)
            latest_s = time.monotonic()
    consumer.close()
    return found
