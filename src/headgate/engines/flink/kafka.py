"""What a source that reads Kafka tells by its metrics: how far it has read, and whether all of it is there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from headgate.algorithm.offsets import Positions
from headgate.engines.flink.gauges import Aggregate
from headgate.engines.flink.kafka_names import KafkaNames, Partition

_SETTLED_AFTER = timedelta(seconds=60)
"""Age of a run from which its partitions are believed as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaReading:
    """One answer of a source that reads Kafka."""

    names: KafkaNames
    values: Mapping[str, Aggregate]

    @property
    def positions(self) -> Positions[Partition]:
        """How far it has read: the largest of the subtasks', as those of an earlier layout may still be told."""
        return Positions(emitted=self._largest(self.names.emitted), committed=self._largest(self.names.committed))

    @property
    def is_disconnected(self) -> bool:
        """Tell whether it says by itself that it has no connection; the number may freeze instead."""
        counts = [self.values[name].sum for name in self.names.connections if name in self.values]
        return bool(counts) and sum(counts) == 0

    def is_settled(self, parallelism: int, age: timedelta) -> bool:
        """
        Tell whether all values are of the run as it is: those of subtasks before a rescale are told for some seconds.

        Then the partitions that subtasks have add up to those there are, none has more than its share, and none that
        must have one is missing.

        Args:
            parallelism: number of subtasks.
            age: for how long they have run.
        """
        told = [self.values[name] for name in self.names.assigned if name in self.values]
        if not told or age > _SETTLED_AFTER:
            return True
        topics = self.names.topics
        fair = sum(math.ceil(count / parallelism) for count in topics)
        reading = max((min(count, parallelism) for count in topics), default=0)
        return (
            sum(each.sum for each in told) == sum(topics)
            and max(each.max for each in told) <= fair
            and sum(_reporting(each) for each in told) >= reading
        )

    def _largest(self, names: Mapping[str, Partition]) -> dict[Partition, float]:
        found: dict[Partition, float] = {}
        for name, partition in names.items():
            value = self.values[name].max if name in self.values else math.nan
            if not math.isnan(value):
                found[partition] = max(value, found.get(partition, value))
        return found


def _reporting(assigned: Aggregate) -> float:
    """Count the subtasks that an aggregate is over; those without a partition do not matter."""
    return round(assigned.sum / assigned.avg) if assigned.avg > 0 else 0
