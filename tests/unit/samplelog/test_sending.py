"""Samples go to Kafka when brokers are there, and nobody waits for brokers that are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from headgate.errors import ConfigError, UnreachableError
from headgate.model.identity import JobKey
from headgate.model.samples import JobSample
from headgate.options.samples import KafkaOptions
from headgate.samplelog.messages import read_message
from headgate.samplelog.sending import KafkaSampleSink, open_sink
from headgate.testing.builders import ORDERS, at, chain, sample

SECOND = timedelta(seconds=1)
PAYMENTS = JobKey("prod", "payments")


@dataclass(frozen=True)
class Trouble:
    """Why a message was not delivered, as the client tells it."""

    why: str

    def str(self) -> str:
        """Tell it."""
        return self.why


@dataclass
class FakeClient:
    """A producer whose brokers answer when the test says so."""

    room: int = 100
    waiting: list[tuple[str, str, bytes, Callable[[Any, object], None]]] = field(default_factory=list)
    delivered: list[tuple[str, str, bytes]] = field(default_factory=list)
    answer: Trouble | None = None
    answers: bool = True

    def produce(self, topic: str, *, key: str, value: bytes, on_delivery: Callable[[Any, object], None]) -> None:
        """Take a message while there is room."""
        if len(self.waiting) == self.room:
            raise BufferError
        self.waiting.append((topic, key, value, on_delivery))

    def poll(self, timeout: float) -> int:
        """Deliver what waits, or give it up."""
        assert timeout == 0
        return self._settle()

    def flush(self, timeout: float) -> int:
        """Deliver what waits, or give it up, and tell what is left."""
        assert timeout == 1.0
        self._settle()
        return len(self.waiting)

    def _settle(self) -> int:
        if not self.answers:
            return 0
        for topic, key, value, on_delivery in self.waiting:
            if self.answer is None:
                self.delivered.append((topic, key, value))
            on_delivery(self.answer, None)
        self.waiting.clear()
        return 1


def tick(seconds: float) -> list[JobSample]:
    """Take samples of two jobs."""
    return [sample(chain({"source": 1}), job=job, tick=at(seconds)) for job in (ORDERS, PAYMENTS)]


def test_each_sample_is_a_message_of_its_job() -> None:
    """The key keeps a job's samples in one partition, and so in order."""
    client = FakeClient()
    KafkaSampleSink(client, "measured").append(tick(10))
    assert [(topic, key) for topic, key, _ in client.delivered] == [
        ("measured", "prod/orders"),
        ("measured", "prod/payments"),
    ]
    assert [read_message(value) for *_, value in client.delivered] == tick(10)


def test_brokers_that_are_away_delay_samples() -> None:
    """They stay in the buffer, in order, and nobody is told of trouble that may pass."""
    client = FakeClient(answers=False)
    sink = KafkaSampleSink(client, "measured")
    sink.append(tick(10))
    client.answers = True
    sink.append(tick(20))
    assert [read_message(value) for *_, value in client.delivered] == [*tick(10), *tick(20)]


def test_a_full_buffer_drops_what_is_new_and_says_so_once() -> None:
    """What has waited longer goes first."""
    client = FakeClient(room=3, answers=False)
    sink = KafkaSampleSink(client, "measured")
    sink.append(tick(10))
    with pytest.raises(UnreachableError, match="1 samples for topic measured were dropped: the buffer is full"):
        sink.append(tick(20))
    client.answers = True
    sink.append([])
    assert len(client.delivered) == 3


def test_samples_that_were_given_up_are_told_of() -> None:
    """The client gives a message up after its time limit, long after it was taken."""
    client = FakeClient(answer=Trouble("Local: Message timed out"))
    sink = KafkaSampleSink(client, "measured")
    with pytest.raises(UnreachableError, match="2 samples for topic measured were dropped: Local: Message timed out"):
        sink.append(tick(10))


def test_the_end_waits_only_so_long() -> None:
    """What is not delivered by then is lost, and told of."""
    client = FakeClient(answers=False)
    sink = KafkaSampleSink(client, "measured")
    sink.append(tick(10))
    with pytest.raises(UnreachableError, match="2 samples for topic measured were dropped: the process ends"):
        sink.close(SECOND)


def test_a_message_that_the_client_refuses_is_dropped_alone() -> None:
    """One that is too large must not take the others with it."""

    class Strict(FakeClient):
        def produce(self, topic: str, *, key: str, value: bytes, on_delivery: Any) -> None:
            if key == str(ORDERS):
                message = "message size too large"
                raise RuntimeError(message)
            super().produce(topic, key=key, value=value, on_delivery=on_delivery)

    client = Strict()
    with pytest.raises(UnreachableError, match=r"1 samples .* dropped: message size too large"):
        KafkaSampleSink(client, "measured").append(tick(10))
    assert [key for _, key, _ in client.delivered] == ["prod/payments"]


def test_the_real_client_takes_our_settings() -> None:
    """Its brokers are in its own process here; secrets are resolved, and samples arrive."""
    options = KafkaOptions(bootstrap_servers="nowhere:1", topic="measured", settings={"test.mock.num.brokers": "1"})
    sink = open_sink(options)
    sink.append(tick(10))
    sink.close(timedelta(seconds=30))


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"no.such.setting": "planted-secret"}, 'No such configuration property: "no.such.setting"'),
        ({"sasl.password": "${env:NOT_SET}"}, "NOT_SET"),
    ],
)
def test_a_faulty_setting_is_a_fault_of_the_configuration(settings: dict[str, str], why: str) -> None:
    """It is told before anything is collected, without its value."""
    with pytest.raises(ConfigError) as raised:
        open_sink(KafkaOptions(bootstrap_servers="nowhere:1", settings=settings))
    assert why in str(raised.value)
    assert "planted-secret" not in str(raised.value)
