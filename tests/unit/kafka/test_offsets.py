"""End offsets of jobs' topics, from whichever cluster has them, and what is said when none has."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from headgate.errors import UnreachableError
from headgate.kafka import cluster as cluster_module
from headgate.kafka.asking import Partition
from headgate.kafka.offsets import KafkaEndOffsets
from headgate.model.events import Event, EventReason
from headgate.model.identity import JobKey
from headgate.options.kafka import KafkaClusterOptions
from headgate.ports import Missing
from headgate.testing.builders import context

MAIN = KafkaClusterOptions(name="main", url="main:9092")
OTHER = KafkaClusterOptions(name="other", url="other:9092", match="staging/*")
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class Broker:
    """A broker without a network: its topics with the ends of their partitions, and how often it was asked."""

    topics: dict[str, list[int]] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    failure: str = ""
    slow: asyncio.Event | None = None
    """Set when it answers; None: at once."""
    asked: list[list[Partition]] = field(default_factory=list)

    def partitions(self) -> Mapping[str, Sequence[Partition]]:
        """List the topics."""
        return {name: [(name, number) for number in range(len(ends))] for name, ends in self.topics.items()}

    def ends(self, partitions: Iterable[Partition]) -> Mapping[Partition, int | Missing]:
        """Tell the ends."""
        self.asked.append(sorted(partitions))
        return {
            (name, number): Missing(why=f"topic {name} is refused")
            if name in self.refused
            else self.topics[name][number]
            for name, number in self.asked[-1]
        }


@pytest.fixture
def brokers(monkeypatch: pytest.MonkeyPatch) -> dict[str, Broker]:
    """Give the brokers by address, in place of real ones."""
    known = {"main:9092": Broker(topics={"orders": [10, 20]}), "other:9092": Broker(topics={"orders": [7]})}

    class Admin:
        def __init__(self, name: str, login: KafkaClusterOptions) -> None:
            self._name, self._broker = name, known[login.url]

        async def ask(self, question: Callable[[Broker], Any]) -> Any:
            if self._broker.slow:
                await self._broker.slow.wait()
            if self._broker.failure:
                message = f"{self._name}: {self._broker.failure}"
                raise UnreachableError(message)
            return question(self._broker)

        def close(self) -> None:
            """Hold nothing."""

    monkeypatch.setattr(cluster_module, "KafkaAdmin", Admin)
    monkeypatch.setattr(cluster_module, "_PATIENCE_S", 0.05)
    return known


@dataclass
class Told:
    """What was opened, with a clock that a test moves, and the events that came of it."""

    events: list[Event] = field(default_factory=list)
    now: datetime = NOW
    offsets: KafkaEndOffsets = field(init=False)

    def __post_init__(self) -> None:
        """Open two clusters."""
        self.offsets = KafkaEndOffsets([MAIN, OTHER], self.events.append, clock=lambda: self.now)

    async def read(self, *topics: str, job: str = "prod/orders") -> Any:
        """Read for a job."""
        return await self.offsets.read(context(JobKey.parse(job)), topics, self.now)

    def passes(self, seconds: float) -> None:
        """Let time pass."""
        self.now += timedelta(seconds=seconds)


@pytest.fixture
async def told(brokers: dict[str, Broker]) -> AsyncIterator[Told]:
    """Give opened clusters."""
    assert brokers
    opened = Told()
    yield opened
    await opened.offsets.close()


async def test_all_partitions_of_a_topic_are_told(told: Told) -> None:
    """By the name that the metrics have for it."""
    assert await told.read("orders") == {("orders", 0): 10.0, ("orders", 1): 20.0}


async def test_a_dot_is_an_underscore_in_metrics(told: Told, brokers: dict[str, Broker]) -> None:
    """It is found all the same, as long as only one can be meant."""
    brokers["main:9092"].topics["de.orders"] = [5]
    assert await told.read("de_orders") == {("de_orders", 0): 5.0}

    brokers["main:9092"].topics["de_orders"] = [6]
    told.passes(31)
    found = await told.read("de_orders")
    assert isinstance(found, Missing)
    assert "de.orders on main or de_orders on main" in found.why


async def test_a_topic_of_two_clusters_is_nobodys(told: Told) -> None:
    """A job that both serve may read either; what `match` leaves to one is that one's."""
    found = await told.read("orders", job="staging/orders")

    assert isinstance(found, Missing)
    assert "orders on main or orders on other" in found.why
    assert [event.reason for event in told.events] == [EventReason.OFFSETS_UNAVAILABLE]


async def test_a_topic_that_is_gone_is_missing(told: Told, brokers: dict[str, Broker]) -> None:
    """Deleted, or not ours to see: nobody can tell the difference."""
    await told.read("orders")
    del brokers["main:9092"].topics["orders"]
    told.passes(31)

    found = await told.read("orders")
    assert isinstance(found, Missing)
    assert "main has no topic orders" in found.why
    assert told.events[-1].message == f"{found.why}; the job goes by its connector's own lag"


async def test_a_topic_that_is_refused_is_missing(told: Told, brokers: dict[str, Broker]) -> None:
    """The others are told; a source that reads both is not."""
    brokers["main:9092"].topics["secret"] = [1]
    brokers["main:9092"].refused.add("secret")

    assert await told.read("orders") == {("orders", 0): 10.0, ("orders", 1): 20.0}
    assert await told.read("orders", "secret") == Missing(why="topic secret is refused")


async def test_the_jobs_of_a_tick_share_one_question(told: Told, brokers: dict[str, Broker]) -> None:
    """However many there are, and whatever they read."""
    brokers["main:9092"].topics["clicks"] = [3]
    await asyncio.gather(told.read("orders"), told.read("clicks"), told.read("orders", "clicks"), told.read("orders"))

    assert brokers["main:9092"].asked == [[("clicks", 0), ("orders", 0), ("orders", 1)]]
    told.passes(0.1)
    await told.read("clicks")
    assert len(brokers["main:9092"].asked) == 1


async def test_an_end_is_that_of_the_instant_asked_for(told: Told, brokers: dict[str, Broker]) -> None:
    """An engine tells what it measured some seconds ago."""
    await told.read("orders")
    brokers["main:9092"].topics["orders"] = [30, 20]
    told.passes(10)
    await told.read("orders")

    found = await told.offsets.read(context(), ["orders"], NOW + timedelta(seconds=5))
    assert found == {("orders", 0): 20.0, ("orders", 1): 20.0}


async def test_brokers_that_do_not_answer_are_one_event(told: Told, brokers: dict[str, Broker]) -> None:
    """For all jobs together, by one key; they are asked again, and answer again."""
    brokers["main:9092"].failure = "Broker transport failure"
    for job in ("prod/orders", "prod/clicks"):
        with pytest.raises(UnreachableError, match="Kafka cluster main: Broker transport failure"):
            await told.read("orders", job=job)
        brokers["main:9092"].failure += " again"
        told.passes(1)
    assert len({event.key for event in told.events}) == 1
    assert all("nothing is decided for a job that reads nothing" in event.message for event in told.events)

    brokers["main:9092"].failure = ""
    told.passes(1)
    assert await told.read("orders") == {("orders", 0): 10.0, ("orders", 1): 20.0}


async def test_one_cluster_that_is_away_keeps_nobody_from_another(told: Told, brokers: dict[str, Broker]) -> None:
    """Whoever was found to have a topic still has it; of another one nobody knows."""
    brokers["other:9092"].topics = {}
    await told.read("orders", job="staging/orders")
    brokers["other:9092"].failure = "Broker transport failure"
    told.passes(10)

    assert await told.read("orders", job="staging/orders") == {("orders", 0): 10.0, ("orders", 1): 20.0}
    with pytest.raises(UnreachableError, match="Kafka cluster other"):
        await told.read("clicks", job="staging/orders")


async def test_a_topic_is_not_found_on_another_cluster_while_its_own_is_away(
    told: Told, brokers: dict[str, Broker]
) -> None:
    """Both have it, so that nobody could tell; that one of them is silent makes it no clearer."""
    assert isinstance(await told.read("orders", job="staging/orders"), Missing)
    brokers["other:9092"].failure = "Broker transport failure"
    told.passes(10)

    with pytest.raises(UnreachableError):
        await told.read("orders", job="staging/orders")


async def test_slow_brokers_hold_up_nobody(told: Told, brokers: dict[str, Broker]) -> None:
    """Who asks is told that there is no answer yet, which is no event; when it has come, it counts."""
    brokers["main:9092"].slow = answers = asyncio.Event()
    assert isinstance(await told.read("orders"), Missing)
    assert told.events == []
    answers.set()

    assert await told.read("orders") == {("orders", 0): 10.0, ("orders", 1): 20.0}


async def test_brokers_that_are_late_twice_do_not_answer(told: Told, brokers: dict[str, Broker]) -> None:
    """Nothing has come in between: that is more than a slow answer."""
    brokers["main:9092"].slow = asyncio.Event()
    assert isinstance(await told.read("orders"), Missing)
    told.passes(1)

    with pytest.raises(UnreachableError, match="no answer"):
        await told.read("orders")


def test_a_cluster_serves_the_jobs_that_match(brokers: dict[str, Broker]) -> None:
    """Whoever is served by none is not asked about."""
    assert brokers
    offsets = KafkaEndOffsets([OTHER], lambda _: None)

    assert offsets.serves(context(JobKey.parse("staging/orders")))
    assert not offsets.serves(context(JobKey.parse("prod/orders")))
