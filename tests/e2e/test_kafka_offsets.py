"""Where topics end, by a real broker: what it has, what it has no longer, whom it lets in, and when it is away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.services import kafka
from tests.services.kafka import PASSWORD, USER, Kafka

from headgate.errors import UnreachableError
from headgate.kafka.offsets import KafkaEndOffsets
from headgate.model.events import Event, EventReason
from headgate.options.kafka import KafkaClusterOptions
from headgate.ports import Missing
from headgate.testing.builders import context

_SOON_S = 60.0
RIGHT, WRONG = "${env:RIGHT}", "${env:WRONG}"
SASL = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}


@pytest.fixture(scope="module")
def broker() -> Iterator[Kafka]:
    """Run a broker with a topic of two partitions, 30 and 12 records in them."""
    with kafka.running() as running:
        running.create("de.orders", 2)
        running.produce("de.orders", {0: 30, 1: 12})
        yield running


@asynccontextmanager
async def opened(url: str, events: list[Event], **login: Any) -> AsyncIterator[Callable[..., Awaitable[Any]]]:
    """Give what reads the ends of topics by the names that metrics have for them."""
    offsets = KafkaEndOffsets([KafkaClusterOptions(name="main", url=url, **login)], events.append)
    try:
        yield lambda *topics: offsets.read(context(), topics, datetime.now(UTC))
    finally:
        await offsets.close()


async def until(read: Callable[..., Awaitable[Any]], wanted: Callable[[Any], bool], *topics: str) -> Any:
    """Read until it is as wanted; nobody answering is as good as not yet."""
    found: Any = None
    async with asyncio.timeout(_SOON_S):
        while True:
            try:
                found = await read(*topics)
            except UnreachableError as error:
                found = error
            if wanted(found):
                return found
            await asyncio.sleep(0.5)


async def test_partitions_come_and_topics_go(broker: Kafka) -> None:
    """A topic is found by its name in metrics; a partition that is added counts, a topic that is deleted is missed."""
    broker.create("clicks", 1)
    broker.produce("clicks", {0: 5})
    events = list[Event]()
    async with opened(broker.address, events) as read:
        assert await until(read, lambda found: found == {("de_orders", 0): 30.0, ("de_orders", 1): 12.0}, "de_orders")

        broker.extend("clicks", 2)
        broker.produce("clicks", {1: 7})
        assert await until(read, lambda found: found == {("clicks", 0): 5.0, ("clicks", 1): 7.0}, "clicks")

        broker.delete("clicks")
        gone = await until(read, lambda found: isinstance(found, Missing), "clicks")
    assert "clicks" in gone.why
    assert {event.reason for event in events} == {EventReason.OFFSETS_UNAVAILABLE}


async def test_a_wrong_password_is_said_and_not_shown(broker: Kafka, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the right one the ends are told."""
    monkeypatch.setenv("RIGHT", PASSWORD)
    monkeypatch.setenv("WRONG", "wrong-secret")
    events = list[Event]()
    login: dict[str, Any] = {"username": USER, "settings": SASL}
    async with opened(broker.secured, events, password=RIGHT, **login) as read:
        await until(read, lambda found: isinstance(found, dict), "de_orders")
    async with opened(broker.secured, events, password=WRONG, **login) as read:
        failure = await until(read, lambda found: "uthentication" in str(found), "de_orders")
    assert "wrong-secret" not in str(failure) + "".join(event.message for event in events)


@pytest.mark.parametrize("end", [Kafka.stop, Kafka.kill], ids=["SIGTERM", "SIGKILL"])
async def test_a_broker_that_comes_back_is_heard_again(broker: Kafka, end: Callable[[Kafka], None]) -> None:
    """While it is away nobody waits for long, and one event a kind of failure says so."""
    events = list[Event]()
    async with opened(broker.address, events) as read:
        await until(read, lambda found: isinstance(found, dict), "de_orders")
        await asyncio.to_thread(end, broker)
        try:
            await until(read, lambda found: isinstance(found, UnreachableError), "de_orders")
        finally:
            await asyncio.to_thread(broker.start)
        await until(read, lambda found: isinstance(found, dict), "de_orders")
    assert {event.reason for event in events} == {EventReason.OFFSETS_UNAVAILABLE}
    assert {event.merge_interval is not None for event in events} == {True}
