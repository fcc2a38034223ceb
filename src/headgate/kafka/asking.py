"""The questions that brokers are asked, each for many topics or groups at once; they block."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from headgate.ports import Missing

Partition = tuple[str, int]
"""Topic and number."""
_LONGEST = 300
_PASSING = {5, 6, 7, 8, 9, 13, 74, 75, 78}
"""Kafka's codes for a partition whose leader is just being found, as after a broker has come back."""


class Asking:
    """An open client. What a single topic or group is refused is missing; where nothing is answered that is raised."""

    def __init__(self, client: Any, kafka: Any, admin: Any, *, name: str, limit_s: float) -> None:
        """Take a client and the modules that it comes from; `limit_s` bounds each call."""
        self._client = client
        self._kafka = kafka
        self._admin = admin
        self._name = name
        self._limit_s = limit_s

    def partitions(self) -> Mapping[str, Sequence[Partition]]:
        """Give the partitions of all topics that we may see."""
        known = self._client.list_topics(timeout=self._limit_s).topics
        return {
            name: [(name, number) for number in sorted(topic.partitions)]
            for name, topic in known.items()
            if topic.error is None
        }

    def ends(self, partitions: Iterable[Partition]) -> Mapping[Partition, int | Missing]:
        """Give the offset that the next record of each partition will have."""
        return self._offsets(partitions, self._admin.OffsetSpec.latest())

    def begins(self, partitions: Iterable[Partition]) -> Mapping[Partition, int | Missing]:
        """Give the offset of the first record that each partition still has."""
        return self._offsets(partitions, self._admin.OffsetSpec.earliest())

    def committed(self, groups: Iterable[str]) -> Mapping[str, Mapping[Partition, int] | Missing]:
        """Give the offsets that each group has committed."""
        # A call takes one group only, so all are under way before the first answer is waited for.
        answers: dict[str, Any] = {}
        for group in sorted(groups):
            asked = [self._kafka.ConsumerGroupTopicPartitions(group)]
            answers |= self._client.list_consumer_group_offsets(asked, request_timeout=self._limit_s)
        return {group: self._of_group(group, answer) for group, answer in answers.items()}

    def _of_group(self, group: str, answer: Any) -> Mapping[Partition, int] | Missing:
        found = self._result(answer, f"the offsets of group {group}")
        if isinstance(found, Missing):
            return found
        faults = [one for one in found.topic_partitions if one.error is not None]
        if faults:
            return self._missing(f"the offsets of group {group}", faults[0].error.str())
        return {(one.topic, one.partition): one.offset for one in found.topic_partitions if one.offset >= 0}

    def _offsets(self, partitions: Iterable[Partition], where: Any) -> Mapping[Partition, int | Missing]:
        request = {self._kafka.TopicPartition(topic, number): where for topic, number in sorted(partitions)}
        if not request:
            return {}
        answer = self._client.list_offsets(request, request_timeout=self._limit_s)
        found, failure = dict[Partition, int | Missing](), None
        for one, each in answer.items():
            try:
                offset = self._result(each, f"topic {one.topic}")
            except (self._kafka.KafkaException, TimeoutError) as error:
                failure, offset = error, self._missing(f"topic {one.topic}", reason(error))
            found[one.topic, one.partition] = offset if isinstance(offset, Missing) else offset.offset
        if failure is not None and all(isinstance(each, Missing) for each in found.values()):
            raise failure  # one partition may have lost its leader, but not all of them
        return found

    def _result(self, answer: Any, what: str) -> Any:
        try:
            return answer.result(self._limit_s)
        except self._kafka.KafkaException as error:
            if (code := error.args[0].code()) < 0 or code in _PASSING:
                raise  # the client's own trouble, of which everything asked for has its share, or nobody's
            return self._missing(what, reason(error))

    def _missing(self, what: str, why: str) -> Missing:
        return Missing(why=f"{self._name}: {what} cannot be had: {why}")


def reason(error: Any) -> str:
    """Say why a call failed."""
    cause = error.args[0] if error.args else error
    return str(cause.str() if hasattr(cause, "str") else cause)[:_LONGEST]
