"""Where a process has its samples from and where they go: from the engines to its log, or by way of a Kafka topic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path

from headgate.options.declaration import Options, option
from headgate.options.units import PositiveDuration


class SampleOrigin(StrEnum):
    """Where samples come from."""

    ENGINES = "engines"
    KAFKA = "kafka"


class SampleDestination(StrEnum):
    """Where samples go."""

    LOG = "log"
    KAFKA = "kafka"


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaOptions(Options):
    """The topic that samples pass through."""

    bootstrap_servers: str = option("bootstrap-servers", "", secret=True)
    """Brokers to begin with, `host:port,host:port`."""

    topic: str = option("topic", "headgate-samples")
    """Name of the topic, which must be there."""

    settings: Mapping[str, str] = option("settings", default_factory=dict, secret=True)
    """
    Further settings of the client, by its own names: of librdkafka where samples are sent, of Kafka's Java consumer
    where they are received. Their values are secrets.
    """

    time_limit: PositiveDuration = option("time-limit", timedelta(minutes=5))
    """How long a sample waits for brokers that do not answer; then it is dropped, and an event says so."""

    checkpoint: Path = option("checkpoint", Path("headgate-stream"))
    """Directory where it is kept which messages have been received."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplesOptions(Options):
    """
    Where samples come from and where they go: one process may collect, and another one decide.

    Raises:
        ValueError: they would come from Kafka and go there, or the brokers are not named.
    """

    origin: SampleOrigin = option("from", SampleOrigin.ENGINES)
    """`engines`, or `kafka`: another process collects, this one receives its samples and decides."""

    destination: SampleDestination = option("to", SampleDestination.LOG)
    """`log`, or `kafka`: this process only collects, and another one decides."""

    kafka: KafkaOptions = option("kafka", default_factory=KafkaOptions)
    """The topic between the two."""

    def __post_init__(self) -> None:
        """Refuse ways that lead nowhere."""
        if faults := tuple(self._faults()):
            raise ValueError("\n".join(faults))

    @property
    def received(self) -> bool:
        """Whether another process collects for this one."""
        return self.origin is SampleOrigin.KAFKA

    @property
    def sent_away(self) -> bool:
        """Whether another process decides by the samples of this one."""
        return self.destination is SampleDestination.KAFKA

    def _faults(self) -> Iterator[str]:
        if self.received and self.sent_away:
            yield "samples cannot come from kafka and go to kafka. Hint: one process collects, another one decides"
        if (self.received or self.sent_away) and not self.kafka.bootstrap_servers:
            yield "samples.kafka.bootstrap-servers is needed for samples to pass through kafka"
