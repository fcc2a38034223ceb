"""Signals from Kafka: how far a consumer group is behind the ends of its topics."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from headgate.config.secrets import redact, resolve
from headgate.errors import ConfigError, RefusedError, UnreachableError
from headgate.options.signals import SignalOptions, SignalSourceOptions
from headgate.ports import JobContext, Missing
from headgate.signals.answers import Answer, Reading
from headgate.signals.placeholders import fill_text, values_for
from headgate.signals.source import Clock, DeclaredSource, now_utc

Partition = tuple[str, int]
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class GroupLag:
    """The lag of one consumer group."""

    group: str
    topics: tuple[str, ...]
    """Empty: all that it has committed offsets of."""


class KafkaSource(DeclaredSource[GroupLag]):
    """
    Asks the brokers of one cluster: what each group has committed, and where its partitions end.

    A partition of which a group has committed nothing counts from its beginning. Calls block, in a thread of their own;
    after a failure the client is made anew, as one whose broker went away may never answer again.
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
        try:
            # An extra: only who declares such a source needs it, or waits for its import.
            self._kafka: Any = import_module("confluent_kafka")
            self._admin: Any = import_module("confluent_kafka.admin")
        except ModuleNotFoundError as error:
            message = f"signal source {options.name}: the driver of kafka is missing. Hint: pip install headgate[kafka]"
            raise ConfigError([message]) from error
        self._thread = ThreadPoolExecutor(1, f"signals-{options.name}")
        self._client: Any = None
        self._secrets: tuple[str, ...] = ()
        self._said = ""

    async def close(self) -> None:
        """Let go of the client, without waiting for brokers that do not answer."""
        await super().close()
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._client = None

    def _question(self, signal: SignalOptions, ctx: JobContext) -> GroupLag:
        values = values_for(ctx, signal)
        topics = sorted({fill_text(topic, values) for topic in signal.topics})
        return GroupLag(group=fill_text(signal.group or "", values), topics=tuple(topics))

    async def _ask(self, questions: Sequence[GroupLag]) -> Mapping[GroupLag, Answer]:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._lags, questions)

    def _lags(self, questions: Sequence[GroupLag]) -> Mapping[GroupLag, Answer]:
        try:
            client = self._opened()
            partitions = self._partitions(client, {topic for each in questions for topic in each.topics})
            committed = self._all_committed(client, {each.group for each in questions})
            wanted = {each: _wanted(each, partitions, committed[each.group]) for each in questions}
            asked = {one for each in wanted.values() if not isinstance(each, Missing) for one in each}
            ends = self._offsets(client, asked, self._admin.OffsetSpec.latest())
            fresh = {one for one in asked if any(one not in known for known in _known(committed))}
            begins = self._offsets(client, fresh, self._admin.OffsetSpec.earliest())
        except (self._kafka.KafkaException, TimeoutError) as error:
            late = f"there was no answer within {self._limit_s:g} s"
            why = late if isinstance(error, TimeoutError) else _reason(error)
            message = redact(f"{self.name}: {why}{self._trouble()}", self._secrets)
            self._client = None
            raise UnreachableError(message) from None
        return {
            each: one if isinstance(one, Missing) else self._lag(one, committed[each.group], ends, begins)
            for each, one in wanted.items()
        }

    def _lag(
        self,
        partitions: Iterable[Partition],
        committed: Mapping[Partition, int] | Missing,
        ends: Mapping[Partition, int],
        begins: Mapping[Partition, int],
    ) -> Answer:
        if isinstance(committed, Missing):
            return committed
        behind = (max(0, ends[one] - committed.get(one, begins.get(one, 0))) for one in partitions)
        return Reading(value=float(sum(behind)), measured_at=self._clock())

    def _partitions(self, client: Any, topics: Iterable[str]) -> Mapping[str, tuple[Partition, ...]]:
        wanted = frozenset(topics)
        if not wanted:
            return {}
        known = client.list_topics(timeout=self._limit_s).topics
        return {name: tuple((name, number) for number in known[name].partitions) for name in wanted if name in known}

    def _all_committed(self, client: Any, groups: Iterable[str]) -> Mapping[str, Mapping[Partition, int] | Missing]:
        # A call takes one group only, so all are under way before the first answer is waited for.
        answers: dict[str, Any] = {}
        for group in sorted(groups):
            asked = [self._kafka.ConsumerGroupTopicPartitions(group)]
            answers |= client.list_consumer_group_offsets(asked, request_timeout=self._limit_s)
        return {group: self._committed(group, answer) for group, answer in answers.items()}

    def _committed(self, group: str, answer: Any) -> Mapping[Partition, int] | Missing:
        try:
            found = answer.result(self._limit_s)
        except self._kafka.KafkaException as error:
            if error.args[0].code() < 0:
                raise  # the client's own trouble, of which every group has its share
            return Missing(why=f"{self.name}: the offsets of group {group} cannot be had: {_reason(error)}")
        faults = [one for one in found.topic_partitions if one.error is not None]
        if faults:
            return Missing(why=f"{self.name}: the offsets of group {group} cannot be had: {faults[0].error.str()}")
        return {(one.topic, one.partition): one.offset for one in found.topic_partitions if one.offset >= 0}

    def _offsets(self, client: Any, partitions: Iterable[Partition], where: Any) -> Mapping[Partition, int]:
        request = {self._kafka.TopicPartition(topic, number): where for topic, number in sorted(partitions)}
        if not request:
            return {}
        answer = client.list_offsets(request, request_timeout=self._limit_s)
        return {(one.topic, one.partition): found.result(self._limit_s).offset for one, found in answer.items()}

    @property
    def _limit_s(self) -> float:
        return self.options.timeout.total_seconds()

    def _note(self, error: Any) -> None:
        self._said = error.str()[:_LONGEST]

    def _trouble(self) -> str:
        """Give what the client said beside a call that failed: of a login that was refused it tells only so."""
        if self._client is not None:
            self._client.poll(0)
        said, self._said = self._said, ""
        return f" ({said})" if said else ""

    def _opened(self) -> Any:
        if self._client is None:
            options = self.options
            try:
                settings = {name: resolve(value) for name, value in options.settings.items()}
                password, brokers = resolve(options.password), resolve(options.url)
            except ValueError as error:
                message = f"{self.name} cannot be asked: {error}"
                raise RefusedError(message) from error
            self._secrets = (password, *settings.values())
            login = {"sasl.username": options.username, "sasl.password": password} if options.username else {}
            trust = {"ssl.ca.location": str(options.ca_file)} if options.ca_file else {}
            quiet: dict[str, Any] = {
                "log_level": 0,
                "error_cb": self._note,
                "socket.timeout.ms": max(10, round(1000 * self._limit_s)),
            }
            self._client = self._admin.AdminClient(
                {**quiet, **login, **trust, **settings, "bootstrap.servers": brokers}
            )
        return self._client


def _wanted(
    question: GroupLag, partitions: Mapping[str, tuple[Partition, ...]], committed: Mapping[Partition, int] | Missing
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


def _reason(error: Any) -> str:
    cause = error.args[0] if error.args else error
    return str(cause.str() if hasattr(cause, "str") else cause)[:_LONGEST]
