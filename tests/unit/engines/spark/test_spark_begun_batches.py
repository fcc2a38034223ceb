"""What a query tells of the batch that it has planned last, in the words of each Spark that there is."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from py4j.protocol import Py4JError

from headgate.engines.spark.application import BegunBatch
from headgate.engines.spark.attached.begun import begun_batch
from headgate.engines.spark.offsets import UNKNOWN, Lag
from headgate.model.lag import LagOrigin
from headgate.testing.builders import START

MS = round(START.timestamp() * 1000)
PLANNED = BegunBatch(batch_id=4, at=START, rows=900.0, lag=Lag(rows=50.0, origin=LagOrigin.OFFSETS))


class JavaIterator:
    """One of the JVM's."""

    def __init__(self, texts: list[str | None]) -> None:
        """Begin before the first."""
        self._texts = texts

    def hasNext(self) -> bool:  # noqa: N802 - Java's name
        """Tell whether there is another one."""
        return bool(self._texts)

    def next(self) -> Any:
        """Give it."""
        text = self._texts.pop(0)
        return None if text is None else SimpleNamespace(json=lambda: text)


def offsets(*texts: str | None) -> Callable[[], Any]:
    """Give what tells the offsets of a query's sources."""
    return lambda: SimpleNamespace(valuesIterator=lambda: JavaIterator([*texts]))


def unknown() -> Any:
    """Fail as a method does that this version does not have."""
    message = "there is no such method"
    raise Py4JError(message)


def times(*stamps: int) -> Callable[[], Any]:
    """Give the time of the batch at each look, the last one for ever."""
    left = [*stamps]
    return lambda: SimpleNamespace(batchTimestampMs=lambda: left.pop(0) if len(left) > 1 else left[0])


def spark_4(**changed: Any) -> Any:
    """Give a query of Spark 4, which has planned a batch of 900 rows and leaves 50."""
    context = SimpleNamespace(
        offsetSeqMetadata=changed.pop("time", times(MS)),
        batchId=lambda: 4,
        startOffsets=changed.pop("start", offsets('{"0": 100, "1": 0}')),
    )
    execution = SimpleNamespace(
        getLatestExecutionContext=lambda: context,
        availableOffsets=changed.pop("end", offsets('{"0": 600, "1": 400}')),
        latestOffsets=changed.pop("latest", offsets('{"0": 650, "1": 400}')),
    )
    return SimpleNamespace(streamingQuery=lambda: execution)


def planned(batch_id: int, ms: int) -> Any:
    """Give what knows of a batch of Spark 4."""
    return SimpleNamespace(offsetSeqMetadata=times(ms), batchId=lambda: batch_id)


def spark_3() -> Any:
    """Give the same of Spark 3.5, as the list that all sessions share has it."""
    return SimpleNamespace(
        streamingQuery=unknown,
        getLatestExecutionContext=unknown,
        offsetSeqMetadata=times(MS),
        currentBatchId=lambda: 4,
        committedOffsets=offsets('{"0": 100, "1": 0}'),
        availableOffsets=offsets('{"0": 600, "1": 400}'),
        latestOffsets=offsets('{"0": 650, "1": 400}'),
    )


def test_a_planned_batch_tells_its_rows_and_what_it_leaves() -> None:
    """By the offsets between which it reads, before any of it is read."""
    assert begun_batch(spark_4()) == PLANNED


def test_the_spark_before_tells_the_same() -> None:
    """It keeps things elsewhere."""
    assert begun_batch(spark_3()) == PLANNED


def test_while_a_batch_is_planned_nothing_is_told() -> None:
    """The offsets may be of the one and the time of the other."""
    assert begun_batch(spark_4(time=times(MS - 4000, MS))) is None


def test_when_another_batch_was_planned_meanwhile_nothing_is_told() -> None:
    """What knew of the batch before still tells of that one, beside the offsets of the next."""
    execution = spark_4().streamingQuery()
    contexts = [execution.getLatestExecutionContext(), planned(5, MS + 4000)]
    execution.getLatestExecutionContext = lambda: contexts.pop(0)
    assert begun_batch(SimpleNamespace(streamingQuery=lambda: execution)) is None


def test_before_the_first_batch_nothing_is_told() -> None:
    """There is no time yet, or nothing that could have one."""
    assert begun_batch(spark_4(time=times(0))) is None
    assert (
        begun_batch(SimpleNamespace(streamingQuery=lambda: SimpleNamespace(getLatestExecutionContext=lambda: None)))
        is None
    )


def test_a_source_that_does_not_count_rows_tells_nothing() -> None:
    """A file source's offset is the number of a listing."""
    assert begun_batch(spark_4(start=offsets('{"logOffset": 1}'), end=offsets('{"logOffset": 2}'))) is None


def test_a_source_without_a_head_leaves_the_lag_unknown() -> None:
    """What comes is known all the same."""
    told = begun_batch(spark_4(latest=offsets(None)))
    assert told is not None
    assert (told.rows, told.lag) == (900.0, UNKNOWN)


def test_a_version_that_tells_none_of_it_is_no_fault() -> None:
    """Batches are known when they have ended."""
    assert begun_batch(spark_4(end=unknown)) is None
