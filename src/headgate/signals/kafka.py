"""Signals from Kafka: how far a consumer group is behind the ends of its topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from headgate.kafka.admin import KafkaAdmin
from headgate.kafka.asking import Asking, Partition
from headgate.options.signals import SignalOptions, SignalSourceOptions
from headgate.ports import JobContext, Missing
from headgate.signals.answers import Answer, Reading
from headgate.signals.placeholders import fill_text, values_for
from headgate.signals.source import Clock, DeclaredSource, now_utc

Offsets = Mapping[Partition, int | Missing]


@dataclass(frozen=True, slots=True)
class GroupLag:
    """The lag of one consumer group."""

    group: str
    topics: tuple[str, ...]
    """Empty: all that it has committed offsets of."""


class KafkaSource(DeclaredSource[GroupLag]):
    """
    Asks the brokers of one cluster: what each group has committed, and where its partitions end.

    A partition of which a group has committed nothing counts from its beginning.
    """

    def __init__(
        self, options: SignalSourceOptions, declared: Sequence[SignalOptions], *, clock: Clock = now_utc
    ) -> None:
        """
        Open nothing yet.

        Raises:
            ConfigError: the driver is not installed.
        """
        super().__init__(options, declared, clock=clock)
        self._brokers = KafkaAdmin(f"signal source {options.name}", options)

    async def close(self) -> None:
        """Let go of the client, without waiting for brokers that do not answer."""
        await super().close()
        self._brokers.close()

    def _question(self, signal: SignalOptions, ctx: JobContext) -> GroupLag:
        values = values_for(ctx, signal)
        topics = sorted({fill_text(topic, values) for topic in signal.topics})
        return GroupLag(group=fill_text(signal.group or "", values), topics=tuple(topics))

    async def _ask(self, questions: Sequence[GroupLag]) -> Mapping[GroupLag, Answer]:
        return await self._brokers.ask(partial(self._lags, questions))

    def _lags(self, questions: Sequence[GroupLag], asking: Asking) -> Mapping[GroupLag, Answer]:
        partitions = asking.partitions() if any(each.topics for each in questions) else {}
        committed = asking.committed({each.group for each in questions})
        wanted = {each: _wanted(each, partitions, committed[each.group]) for each in questions}
        asked = {one for each in wanted.values() if not isinstance(each, Missing) for one in each}
        ends = asking.ends(asked)
        begins = asking.begins({one for one in asked if any(one not in known for known in _known(committed))})
        return {
            each: one if isinstance(one, Missing) else self._lag(one, committed[each.group], ends, begins)
            for each, one in wanted.items()
        }

    def _lag(
        self,
        partitions: Iterable[Partition],
        committed: Mapping[Partition, int] | Missing,
        ends: Offsets,
        begins: Offsets,
    ) -> Answer:
        if isinstance(committed, Missing):
            return committed
        behind = 0
        for one in partitions:
            end, read = ends[one], committed.get(one, begins.get(one, 0))
            if isinstance(end, Missing):
                return end
            if isinstance(read, Missing):
                return read
            behind += max(0, end - read)
        return Reading(value=float(behind), measured_at=self._clock())


def _wanted(
    question: GroupLag, partitions: Mapping[str, Sequence[Partition]], committed: Mapping[Partition, int] | Missing
) -> Sequence[Partition] | Missing:
    """Give the partitions that count, or say why there are none."""
    if isinstance(committed, Missing):
        return committed
    unknown = [topic for topic in question.topics if topic not in partitions]
    if unknown:
        return Missing(why=f"there is no topic {', '.join(unknown)}")
    if question.topics:
        return [one for topic in question.topics for one in partitions[topic]]
    if not committed:
        return Missing(why=f"group {question.group} has committed no offsets. Hint: name its topics")
    return sorted(committed)


def _known(committed: Mapping[str, Mapping[Partition, int] | Missing]) -> Iterable[Mapping[Partition, int]]:
    return (each for each in committed.values() if not isinstance(each, Missing))
