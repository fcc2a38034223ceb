"""
The driver for samples that come in on Kafka: a Structured Streaming query brings them into the log, batch by batch.

It keeps no state of jobs: what is decided is decided over the log, by the same evaluator as where nothing streams. A
restart needs the checkpoint, which tells what has been received, and the log.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from threading import Lock

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from headgate.config.secrets import redact, resolve
from headgate.errors import UnreachableError
from headgate.model.identity import JobKey
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.options.samples import KafkaOptions
from headgate.pipeline.packages import KAFKA
from headgate.pipeline.session import reported
from headgate.ports import Candidate, FleetEvaluator
from headgate.samplelog.receiving import Receiver

_MOST_AT_ONCE = 50_000
"""Messages in a batch, which the driver holds in memory."""
_LAST_BATCH_S = 10.0
_FAILURE = "samples cannot be received from Kafka"
_NEEDS = f"Spark needs {KAFKA} for it"


class SampleStream:
    """Receives samples as long as it is told to go on; a query that fails is started again from where it was."""

    def __init__(
        self,
        options: KafkaOptions,
        receiver: Receiver,
        *,
        pace: timedelta,
        failed: Callable[[str], None] = lambda _: None,
    ) -> None:
        """
        Start nothing yet.

        Args:
            options: the topic, and where it is kept what has been received.
            receiver: takes the messages.
            pace: time between two batches, unless one takes longer.
            failed: is told why a query has failed.
        """
        self._options = options
        self._receiver = receiver
        self._pace = pace
        self._failed = failed
        self._lock = Lock()
        self._query: StreamingQuery | None = None
        self._batch = _Batch(receiver)
        self._secrets: Collection[str] = ()

    def go_on(self, session: SparkSession) -> None:
        """
        See to it that a query runs on this session.

        Raises:
            UnreachableError: it cannot be started; the text says why.
        """
        with self._lock:
            if why := self._end():
                self._failed(why)
            if self._query is None:
                self._query = self._start(session)

    def close(self) -> None:
        """Stop receiving; a batch under way may come to its end, or else the next start takes it again."""
        with self._lock:
            query, self._query = self._query, None
            # A Spark that has failed by itself has stopped receiving too.
            with suppress(UnreachableError), reported(_FAILURE):
                if query is not None:
                    _await_rest(query)
                    query.stop()

    def _end(self) -> str | None:
        """Let go of a query that has ended, and say why it has."""
        query = self._query
        if query is None:
            return None
        try:
            with self._discreetly(_FAILURE):
                if query.isActive:
                    return None
                if error := query.exception():
                    raise error
        except UnreachableError as error:
            self._query = None
            return self._batch.failure or str(error)
        self._query = None
        return f"{_FAILURE}: the query has ended"

    def _start(self, session: SparkSession) -> StreamingQuery:
        batch = self._batch = _Batch(self._receiver)
        with self._discreetly(f"{_FAILURE} ({_NEEDS})"):
            query = (
                session.readStream.format("kafka")
                .options(**self._settings())
                .load()
                .select("value")
                .writeStream.foreachBatch(batch.take)
                .option("checkpointLocation", f"file://{self._options.checkpoint.absolute()}")
                .trigger(processingTime=f"{self._pace // timedelta(milliseconds=1)} milliseconds")
                .queryName("headgate-samples")
                .start()
            )
        batch.query.set_result(query.id)
        return query

    def _settings(self) -> Mapping[str, str]:
        options = self._options
        try:
            settings = {name: resolve(value) for name, value in options.settings.items()}
            self._secrets = settings.values()
            brokers = resolve(options.bootstrap_servers)
        except ValueError as error:
            message = f"samples.kafka: {error}"
            raise UnreachableError(message) from error
        return {
            **{f"kafka.{name}": value for name, value in settings.items()},
            "kafka.bootstrap.servers": brokers,
            "subscribe": options.topic,
            "startingOffsets": "earliest",
            "maxOffsetsPerTrigger": str(_MOST_AT_ONCE),
            # What the topic has dropped while nobody received is a hole in the samples, and not the end of them.
            "failOnDataLoss": "false",
        }

    @contextmanager
    def _discreetly(self, what: str) -> Iterator[None]:
        try:
            with reported(what):
                yield
        except UnreachableError as error:
            raise UnreachableError(redact(str(error), self._secrets)) from None


def _await_rest(query: StreamingQuery) -> None:
    """Wait until no batch is under way: Spark fills the terminal with traces when one is cut off."""
    until = time.monotonic() + _LAST_BATCH_S
    while query.isActive and query.status["isTriggerActive"] and time.monotonic() < until:
        time.sleep(0.05)


class _Batch:
    """Names batches by their query, which has the same id after each restart, and by their number in it."""

    def __init__(self, receiver: Receiver) -> None:
        self.query: Future[str] = Future()
        self.failure: str | None = None
        """Why a batch could not be taken: of an error in Python, Spark tells no more than that there was one."""
        self._receiver = receiver

    def take(self, messages: DataFrame, number: int) -> None:
        name = hashlib.sha256(self.query.result().encode()).hexdigest()[:8]
        values = messages.toArrow()["value"].to_pylist()
        try:
            self._receiver.take(values, shard=f"{name}{number:08x}")
        except Exception as error:
            self.failure = str(error) or type(error).__name__
            raise


class StreamedEvaluator:
    """A `ports.FleetEvaluator` that sees to it, before each evaluation, that samples come in."""

    def __init__(self, stream: SampleStream, session: SparkSession, evaluator: FleetEvaluator) -> None:
        """Evaluate by the evaluator over the log that the stream fills."""
        self._stream = stream
        self._session = session
        self._evaluator = evaluator

    def evaluate(
        self, candidates: Sequence[Candidate], now: datetime, /
    ) -> Mapping[JobKey, EvaluatedMetrics | NotReady]:
        """
        Answer every candidate; the contract is the port's.

        Raises:
            UnreachableError: samples cannot be received, the log could not be read, or Spark failed.
            PermanentError: a newer Headgate wrote the log.
        """
        self._stream.go_on(self._session)
        return self._evaluator.evaluate(candidates, now)
