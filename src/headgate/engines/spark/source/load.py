"""
The data source `headgate-load`: a stream whose rows come in as a load profile says, by the clock.

It behaves as a broker does: rows wait in partitions until they are read, offsets can be read again, and with
PySpark 4.2 or later it reports its latest offsets and takes at most so many rows a batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

import headgate.engines.spark.source as package
from headgate.engines.spark.source.collecting import collect_quickly
from headgate.engines.spark.source.offsets import admit
from headgate.engines.spark.source.settings import NAME, LoadSettings, read_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

try:
    from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
except ImportError:  # PySpark 4.0 and 4.1: every batch takes all that waits
    _OLD = True
    SupportsTriggerAvailableNow = object  # type: ignore[misc,assignment]
else:
    _OLD = False

SCHEMA = "partition INT, offset LONG, value LONG"
"""`value` is a number below a million that only depends on the partition and the offset: a key to group by."""

_ROWS_AT_ONCE = 10_000
_PRIME = 2_654_435_761
_VALUES = 1_000_000

Offsets = dict[str, int]
"""The next offset by partition, as it is written into a checkpoint."""


def register(session: SparkSession) -> None:
    """
    Make `readStream.format("headgate-load")` known to a session, see `LoadSource`.

    The source travels to the executors by value: Headgate need not be installed there.
    """
    with by_value():
        session.dataSource.register(LoadSource)


@contextmanager
def by_value() -> Iterator[None]:
    """Let what is pickled meanwhile bring the code of this package along."""
    cloudpickle.register_pickle_by_value(package)  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        cloudpickle.unregister_pickle_by_value(package)  # type: ignore[no-untyped-call]


class LoadSource(DataSource):
    """
    A replayable stream of the rows `(partition, offset, value)`.

    Options: `profile` (rows per second over time, as in `0s:200, 60s:700`), `start` (the instant of its second 0),
    `partitions` (8), `maxRowsPerTrigger` (none), `skew` (0: all partitions alike; 1: as `1 / rank`).
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        """
        Check the options.

        Raises:
            ValueError: see `settings.read_settings`; or `maxRowsPerTrigger` with a PySpark before 4.2.
        """
        super().__init__(dict(options))
        self._settings = read_settings(options)
        if _OLD and self._settings.most_rows is not None:
            message = f"option maxRowsPerTrigger of {NAME} needs PySpark 4.2 or later"
            raise ValueError(message)

    @classmethod
    def name(cls) -> str:
        """Return the format's name."""
        return NAME

    def schema(self) -> str:
        """Return the columns, which are always the same."""
        return SCHEMA

    def streamReader(self, schema: StructType) -> LoadReader:  # noqa: ARG002, N802 (Spark's names)
        """Return what reads the stream."""
        return LoadReader(self._settings)


@dataclass(frozen=True, kw_only=True)
class Slice(InputPartition):
    """The rows of one partition that one task reads."""

    partition: int
    begin: int
    end: int


class LoadReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads the stream; Spark calls it, in the driver's helper process and, for `read`, in the executors'."""

    def __init__(self, settings: LoadSettings) -> None:
        """Read nothing yet."""
        self._settings = settings
        self._fixed: tuple[int, ...] | None = None

    def initialOffset(self) -> Offsets:  # noqa: N802
        """Return the beginning of every partition."""
        return _named((0,) * self._settings.partitions)

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """Return how many rows a batch may have."""
        most = self._settings.most_rows
        return ReadAllAvailable() if most is None else ReadMaxRows(most)

    def latestOffset(self, start: Offsets | None = None, limit: ReadLimit | None = None) -> Offsets:  # noqa: N802
        """Return where a batch ends; PySpark before 4.2 gives neither its start nor a limit."""
        head = self._heads()
        begin = _numbered(start) if start else (0,) * len(head)
        most = limit.max_rows if limit is not None and isinstance(limit, ReadMaxRows) else sum(head)
        return _named(admit(begin, head, most))

    def reportLatestOffset(self) -> Offsets:  # noqa: N802
        """Return where the stream ends now, for the query's progress."""
        return _named(self._heads())

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Let the stream end where it is now."""
        self._fixed = self._settings.heads_now()

    def partitions(self, start: Offsets, end: Offsets) -> list[Slice]:
        """Return a task for each partition that has rows to read."""
        spans = enumerate(zip(_numbered(start), _numbered(end), strict=True))
        return [Slice(partition=number, begin=begin, end=until) for number, (begin, until) in spans if begin < until]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Give the rows of a task."""
        collect_quickly()
        if isinstance(partition, Slice):
            for begin in range(partition.begin, partition.end, _ROWS_AT_ONCE):
                yield _rows(partition.partition, range(begin, min(begin + _ROWS_AT_ONCE, partition.end)))

    def commit(self, end: Offsets) -> None:
        """Do nothing: rows are made when they are read."""

    def _heads(self) -> tuple[int, ...]:
        return self._settings.heads_now() if self._fixed is None else self._fixed


def _rows(partition: int, offsets: range) -> pa.RecordBatch:
    columns = {
        "partition": pa.array([partition] * len(offsets), pa.int32()),
        "offset": pa.array(offsets, pa.int64()),
        "value": pa.array([value_of(partition, offset) for offset in offsets], pa.int64()),
    }
    return pa.RecordBatch.from_pydict(columns)


def value_of(partition: int, offset: int) -> int:
    """Return the value of a row: spread evenly, and the same whenever it is read."""
    return ((offset * 31 + partition) * _PRIME >> 7) % _VALUES


def _named(offsets: tuple[int, ...]) -> Offsets:
    return {str(number): offset for number, offset in enumerate(offsets)}


def _numbered(offsets: Offsets) -> tuple[int, ...]:
    return tuple(offsets[str(number)] for number in range(len(offsets)))
