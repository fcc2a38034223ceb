"""Work on Spark's executors that is no reduction: packed tasks go out in parts of like size, one for each core."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from threading import Event, Timer
from uuid import uuid4

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark import TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from headgate.errors import UnreachableError
from headgate.pipeline.schemas import spark_schema
from headgate.pipeline.session import in_pool, reported, tagged

_TASKS = pa.schema([("place", pa.int32()), ("content", pa.binary())])
_DONE = pa.schema([("place", pa.int32()), ("content", pa.binary()), ("failure", pa.string())])
_LOST = "the Spark task was lost"

_POOL = "collecting"
"""Of Spark's scheduler."""

Work = Callable[[Sequence[bytes]], Sequence[bytes]]
"""Does several tasks at once, on a worker, and gives what came of each; a function of a module that can be shipped."""

Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True, slots=True, kw_only=True)
class Executors:
    """
    Runs tasks on the executors of a session, each part of them once.

    A part whose executor dies is given up and not done again: it would come too late, and ask everybody twice.
    """

    session: Callable[[], SparkSession]
    work: Work
    time_limit: timedelta
    """For all parts, those that wait for a core as well."""

    def run(self, tasks: Sequence[bytes], sizes: Sequence[int]) -> list[bytes | str]:
        """
        Do the tasks; may be called in several threads at once.

        Args:
            tasks: packed.
            sizes: how large each is, in any unit.

        Returns:
            What came of each; a text is why its part was given up.

        Raises:
            UnreachableError: there is no session, the time limit was exceeded, or Spark failed altogether.
        """
        session = self.session()
        parts = _table(tasks, divide(sizes, session.sparkContext.defaultParallelism))
        failure = reported("Spark's executors could not do their work")
        with failure, in_pool(session, _POOL), _bounded(session, self.time_limit):
            rows = session.createDataFrame(parts)
            done: pa.Table = rows.mapInArrow(_once(self.work), spark_schema(_DONE)).toArrow()
        found = {row["place"]: row["content"] or row["failure"] for row in done.to_pylist()}
        return [found.get(place, _LOST) for place in range(len(tasks))]


def divide(sizes: Sequence[int], parts: int) -> list[list[int]]:
    """Divide places into so many parts, or fewer, of like size: the largest first, each to the smallest part so far."""
    heap = [(0, part, list[int]()) for part in range(max(1, min(parts, len(sizes))))]
    for place in sorted(range(len(sizes)), key=lambda each: -sizes[each]):
        filled, part, places = heap[0]
        heapq.heapreplace(heap, (filled + sizes[place], part, [*places, place]))
    return [places for _, _, places in sorted(heap)]


def _table(tasks: Sequence[bytes], parts: Sequence[Sequence[int]]) -> pa.Table:
    """Give the tasks as a table that Spark makes a partition of for each part."""
    columns = ((pa.array(part, pa.int32()), pa.array([tasks[place] for place in part], pa.binary())) for part in parts)
    return pa.Table.from_batches([pa.record_batch(list(each), schema=_TASKS) for each in columns], _TASKS)


def _once(work: Work) -> Callable[[Batches], Batches]:
    def do(batches: Batches) -> Batches:
        context = TaskContext.get()
        for batch in batches:
            if context is None or context.attemptNumber() == 0:
                yield _done(work, batch)

    return do


def _done(work: Work, batch: pa.RecordBatch) -> pa.RecordBatch:
    contents: Sequence[bytes | None] = [None] * batch.num_rows
    failure = None
    try:
        contents = work(batch.column("content").to_pylist())
    except Exception as error:  # noqa: BLE001 - whatever it is, it costs this part alone
        failure = f"{type(error).__name__}: {error}"
    failures = pa.array([failure] * batch.num_rows, pa.string())
    return pa.record_batch([batch.column("place"), pa.array(contents, pa.binary()), failures], schema=_DONE)


@contextmanager
def _bounded(session: SparkSession, limit: timedelta) -> Iterator[None]:
    """Cancel what this thread asks of Spark within, once the time is over."""
    tag, over = uuid4().hex, Event()

    def cancel() -> None:
        over.set()
        session.sparkContext.cancelJobsWithTag(tag)

    timer = Timer(limit.total_seconds(), cancel)
    timer.start()
    try:
        with tagged(session, tag):
            yield
    except (Py4JError, PySparkException) as error:
        if over.is_set():
            message = f"Spark's executors did not do their work within {limit.total_seconds():g} s"
            raise UnreachableError(message) from error
        raise
    finally:
        timer.cancel()
