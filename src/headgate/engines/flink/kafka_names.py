"""Which of a source's metrics tell of the partitions of Kafka that it reads, and of its connections."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

Partition = tuple[str, int]
"""Topic, as the metrics call it, and number."""

_OFFSET = re.compile(
    r"\.KafkaSourceReader\.topic\.(?P<topic>.+)\.partition\.(?P<number>\d+)\.(?P<which>currentOffset|committedOffset)$"
)
_SEVERAL_CLUSTERS = ".kafkaCluster."
_ASSIGNED = ".KafkaSourceReader.KafkaConsumer.assigned-partitions"
_CONNECTIONS = ".KafkaSourceReader.KafkaConsumer.connection-count"


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaNames:
    """The names that matter, if there are any. A source that reads several Kafka clusters has none of them."""

    topics: tuple[int, ...] = ()
    """How many partitions each topic has; a vertex may hold two sources that read the same."""
    assigned: tuple[str, ...] = ()
    connections: tuple[str, ...] = ()
    emitted: Mapping[str, Partition] = field(default_factory=dict)
    """Offset of the last record passed on; like the next ones only where offsets are used, as they are many."""
    committed: Mapping[str, Partition] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Tell whether the source reads Kafka."""
        return bool(self.topics or self.assigned)

    @property
    def partitions(self) -> frozenset[Partition]:
        """The distinct partitions; names of an earlier layout stay, and tell of the same ones."""
        return frozenset((*self.emitted.values(), *self.committed.values()))

    @property
    def wanted(self) -> tuple[str, ...]:
        """The names to ask for."""
        return (*self.assigned, *self.connections, *self.emitted, *self.committed)


def kafka_names(names: Iterable[str], *, offsets: bool) -> KafkaNames:
    """Choose among the metric names of a source vertex, those of its subtasks together; offsets where they are used."""
    # The cheap test first: a source of 1,000 partitions has 20,000 names.
    mine = [name for name in names if ".KafkaSourceReader." in name and _SEVERAL_CLUSTERS not in name]
    found = {"currentOffset": dict[str, Partition](), "committedOffset": dict[str, Partition]()}
    for name in mine:
        if name.endswith("Offset") and (match := _OFFSET.search(name)) is not None:
            found[match["which"]][name] = match["topic"], int(match["number"])
    emitted = found["currentOffset"]
    return KafkaNames(
        topics=tuple(Counter(topic for topic, _ in emitted.values()).values()),
        assigned=tuple(name for name in mine if name.endswith(_ASSIGNED)),
        connections=tuple(name for name in mine if name.endswith(_CONNECTIONS)),
        emitted=emitted if offsets else {},
        committed=found["committedOffset"] if offsets else {},
    )
