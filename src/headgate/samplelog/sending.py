"""Sends samples to a Kafka topic, for a process elsewhere that decides by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from importlib import import_module
from threading import Lock
from typing import Any, Protocol

from headgate.config.secrets import redact, resolve
from headgate.errors import ConfigError, UnreachableError
from headgate.model.samples import JobSample
from headgate.options.samples import KafkaOptions
from headgate.samplelog.messages import message_of

_MISSING = "samples.to: the driver of kafka is missing. Hint: pip install headgate[kafka]"
_BUFFER_KB = 64 * 1024
_MILLISECOND = timedelta(milliseconds=1)


class Client(Protocol):
    """What is needed of a producer of confluent-kafka."""

    def produce(self, topic: str, *, key: str, value: bytes, on_delivery: Any) -> None:
        """Put a message into the buffer; raises `BufferError` when that is full."""

    def poll(self, timeout: float) -> int:
        """Call back for what has become of messages."""

    def flush(self, timeout: float) -> int:
        """Wait until all messages are delivered or given up, and give how many are neither."""


class KafkaSampleSink:
    """
    A `ports.SampleSink` that sends each sample as a message of its own, with the job as its key.

    All samples of a job are in one partition hence, in order, each once as far as one process is concerned. Nobody
    waits for brokers: what cannot be delivered now stays in a bounded buffer for some time and is then dropped. Safe to
    call from several threads.
    """

    def __init__(self, client: Client, topic: str) -> None:
        """Send through a client."""
        self._client = client
        self._topic = topic
        self._lock = Lock()
        self._dropped = 0
        self._why = ""

    def append(self, samples: Sequence[JobSample], /) -> None:
        """
        Take samples to be sent.

        Raises:
            UnreachableError: samples were dropped since the call before, these or older ones; all others are on their
                way.
        """
        for sample in samples:
            self._send(sample)
        self._client.poll(0)
        self._tell()

    def close(self, patience: timedelta) -> None:
        """
        Wait so long for what is on its way.

        Raises:
            UnreachableError: samples were dropped, or have not been delivered by then.
        """
        if waiting := self._client.flush(patience.total_seconds()):
            self._drop(waiting, "the process ends")
        self._tell()

    def _send(self, sample: JobSample) -> None:
        try:
            self._client.produce(
                self._topic, key=str(sample.job), value=message_of(sample), on_delivery=self._delivered
            )
        except BufferError:
            self._drop(1, "the buffer is full")
        except Exception as error:  # noqa: BLE001 - the driver's own kinds, such as of a message that is too large
            self._drop(1, str(error))

    def _delivered(self, error: Any, _message: object) -> None:
        if error is not None:
            self._drop(1, error.str())

    def _drop(self, count: int, why: str) -> None:
        with self._lock:
            self._dropped += count
            self._why = why

    def _tell(self) -> None:
        with self._lock:
            dropped, self._dropped = self._dropped, 0
        if dropped:
            message = f"{dropped} samples for topic {self._topic} were dropped: {self._why}"
            raise UnreachableError(message)


def open_sink(options: KafkaOptions) -> KafkaSampleSink:
    """
    Give a sink over the brokers that options name; nothing is asked of them yet.

    Raises:
        ConfigError: the driver is not installed, a secret is not there, or the driver does not know a setting.
    """
    try:
        # An extra: only who sends samples needs it, or waits for its import.
        kafka = import_module("confluent_kafka")
    except ModuleNotFoundError as error:
        raise ConfigError([_MISSING]) from error
    try:
        secrets = {name: resolve(value) for name, value in options.settings.items()}
        brokers = resolve(options.bootstrap_servers)
    except ValueError as error:
        raise ConfigError([f"samples.kafka: {error}"]) from error
    try:
        client = kafka.Producer({**_settings(options), **secrets, "bootstrap.servers": brokers})
    except kafka.KafkaException as error:
        raise ConfigError([f"samples.kafka: {redact(error.args[0].str(), secrets.values())}"]) from None
    return KafkaSampleSink(client, options.topic)


def _settings(options: KafkaOptions) -> Mapping[str, Any]:
    return {
        "enable.idempotence": True,
        "delivery.timeout.ms": options.time_limit // _MILLISECOND,
        "queue.buffering.max.kbytes": _BUFFER_KB,
        "linger.ms": 100,
        "compression.type": "zstd",
        # What matters of its words comes back with the messages; the rest would be a line for each attempt to connect.
        "log_level": 0,
        "error_cb": lambda _: None,
    }
