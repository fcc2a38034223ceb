"""Where the topics of jobs end, whichever of the declared Kafka clusters has them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime, timedelta

from headgate.errors import HeadgateError
from headgate.kafka.cluster import KafkaCluster, LateError
from headgate.kafka.history import Look
from headgate.model.events import Event, EventReason, EventType
from headgate.model.identity import JobKey
from headgate.options.kafka import KafkaClusterOptions
from headgate.ports import Begins, Ends, JobContext, Missing

Clock = Callable[[], datetime]
Known = tuple[KafkaCluster, Look]
"""A cluster that has answered, and what."""
_MERGED = timedelta(minutes=30)
"""Within which the same trouble is one event."""
_AWAY = "nothing is decided for a job that reads nothing meanwhile; one that reads goes by its connector's own lag"
_UNKNOWN = "the job goes by its connector's own lag"
"""What is done without end offsets."""


def _now_utc() -> datetime:
    return datetime.now(UTC)


class KafkaEndOffsets:
    """The end offsets of any number of Kafka clusters. Implements `headgate.ports.EndOffsets`."""

    def __init__(
        self,
        clusters: Sequence[KafkaClusterOptions],
        tell: Callable[[Event], None],
        *,
        clock: Clock = _now_utc,
        patient: bool = False,
    ) -> None:
        """
        Ask nothing yet.

        Args:
            clusters: as they are declared.
            tell: is told what cannot be had, and merges.
            clock: gives the present.
            patient: whether to wait for as long as an answer may take, and not only for as long as it usually does.

        Raises:
            ConfigError: the driver is not installed.
        """
        self._clusters = [KafkaCluster(options, clock=clock, patient=patient) for options in clusters]
        self._tell = tell
        self._owners: dict[tuple[JobKey, str], KafkaCluster] = {}
        """The cluster that was last found to have a job's topic."""

    def serves(self, ctx: JobContext, /) -> bool:
        """Tell whether a cluster is declared for this job."""
        return any(cluster.serves(ctx.key) for cluster in self._clusters)

    async def read(self, ctx: JobContext, topics: Collection[str], at: datetime, /) -> Ends | Missing:
        """Tell where these topics ended; the contract is the port's."""
        serving = [cluster for cluster in self._clusters if cluster.serves(ctx.key)]
        answers = await asyncio.gather(*(_looked(cluster, topics) for cluster in serving))
        failures = {one: each for one, each in zip(serving, answers, strict=True) if isinstance(each, HeadgateError)}
        if late := next((each for each in failures.values() if isinstance(each, LateError)), None):
            return Missing(why=str(late))
        for cluster, failure in failures.items():
            # The same for all jobs that read it.
            self._tell(_unavailable(f"{failure}; {_AWAY}", at, of=cluster.options.name, subject="headgate"))
        known = [(one, look) for one, look in zip(serving, answers, strict=True) if isinstance(look, Look)]
        answered = [one for one, _ in known]
        if failures and not all(self._owners.get((ctx.key, name)) in answered for name in topics):
            raise next(iter(failures.values()))  # who does not answer may be the one that has it
        found = self._ends(ctx, topics, known, at)
        if isinstance(found, Missing) and not any(cluster.recovers for cluster in serving):
            self._tell(_unavailable(f"{found.why}; {_UNKNOWN}", at, of=str(ctx.key), subject=ctx.key))
        return found

    async def begins(self, ctx: JobContext, topics: Collection[str], /) -> Begins | Missing:
        """Tell where these topics begin; the contract is the port's."""
        owned: dict[KafkaCluster, list[str]] = {}
        for name in topics:
            owner = self._owners.get((ctx.key, name))
            if owner is None:
                return Missing(why=f"nobody is known to have topic {name}")
            owned.setdefault(owner, []).append(name)
        begins: dict[tuple[str, int], float] = {}
        for owner, names in owned.items():
            for name, partitions in (await owner.begins(names)).items():
                for (_, number), begin in partitions.items():
                    if isinstance(begin, Missing):
                        return begin
                    begins[name, number] = begin
        return begins

    def forget(self, job: JobKey, /) -> None:
        """Drop what is remembered of a job; one never seen is no error."""
        self._owners = {each: owner for each, owner in self._owners.items() if each[0] != job}

    def _ends(self, ctx: JobContext, topics: Collection[str], known: Sequence[Known], at: datetime) -> Ends | Missing:
        ends: dict[tuple[str, int], float] = {}
        for name in sorted(topics):
            found = _owner(name, known)
            if isinstance(found, Missing):
                return found
            self._owners[ctx.key, name] = found[0]
            for partition in found[1].partitions[name]:
                end = found[0].history.end_of(partition, at)
                if isinstance(end, Missing):
                    return end
                ends[name, partition[1]] = end
        return ends

    async def close(self) -> None:
        """Let go of the clients."""
        await asyncio.gather(*(cluster.close() for cluster in self._clusters))


async def _looked(cluster: KafkaCluster, topics: Collection[str]) -> Look | HeadgateError:
    try:
        return await cluster.look(topics)
    except HeadgateError as error:
        return error


def _owner(name: str, known: Sequence[Known]) -> Known | Missing:
    """Give the one cluster that has the topic, and its look; none and several are both as good as none."""
    having = [(one, look) for one, look in known if look.partitions[name]]
    told = sorted({f"{topic} on {one.options.name}" for one, look in having for topic, _ in look.partitions[name]})
    if len(told) == 1:
        return having[0]
    if told:
        return Missing(why=f"topic {name} of the metrics may be {' or '.join(told)}. Hint: narrow `match`")
    asked = ", ".join(one.options.name for one, _ in known)
    return Missing(why=f"{asked} has no topic {name}, or does not let us describe it")


def _unavailable(message: str, at: datetime, *, of: str, subject: JobKey | str) -> Event:
    return Event(
        at=at,
        type=EventType.WARNING,
        reason=EventReason.OFFSETS_UNAVAILABLE,
        message=message,
        key=f"offsets:{of}",
        subject=subject,
        merge_interval=_MERGED,
    )
