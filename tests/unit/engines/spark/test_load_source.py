"""The load source as Spark calls it, without Spark: offsets, limits, rows, and a trip to where Headgate is missing."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark import cloudpickle
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows
from pyspark.sql.types import StructType

from headgate.engines.spark.source import load
from headgate.engines.spark.source.load import LoadReader, LoadSource, by_value, value_of

OPTIONS = {
    "profile": "0s:400, 5s:0",
    "start": (datetime.now(UTC) - timedelta(hours=1)).isoformat(),
    "partitions": "4",
    "maxRowsPerTrigger": "450",
}
"""A load that ended long ago: 2000 rows wait."""
ENDS = {"0": 500, "1": 500, "2": 500, "3": 500}


def reader(**options: str) -> LoadReader:
    """Give what a query's driver reads with."""
    return LoadSource({**OPTIONS, **options}).streamReader(StructType())


def rows_between(source: LoadReader, start: dict[str, int], end: dict[str, int]) -> list[tuple[int, int, int]]:
    """Give the rows of a batch."""
    batches = [batch for part in source.partitions(start, end) for batch in source.read(part)]
    return [(row["partition"], row["offset"], row["value"]) for batch in batches for row in batch.to_pylist()]


def test_batches_take_all_rows_a_few_at_a_time() -> None:
    """Each takes 450 at most, and the last one what is left; then there is nothing more."""
    source = reader()
    limit, begin, sizes, rows = source.getDefaultReadLimit(), source.initialOffset(), [], []
    while (end := source.latestOffset(begin, limit)) != begin:
        rows += rows_between(source, begin, end)
        sizes.append(sum(end.values()) - sum(begin.values()))
        begin = end
    assert limit == ReadMaxRows(450)
    assert sizes == [450, 450, 450, 450, 200]
    assert sorted(rows) == [(part, offset, value_of(part, offset)) for part in range(4) for offset in range(500)]


def test_a_batch_that_is_read_again_is_the_same() -> None:
    """Another driver plans it from the checkpoint's offsets."""
    start, end = {"0": 7, "1": 0, "2": 3, "3": 0}, {"0": 9, "1": 2, "2": 3, "3": 0}
    assert rows_between(reader(), start, end) == rows_between(reader(), start, end)
    assert [row[:2] for row in rows_between(reader(), start, end)] == [(0, 7), (0, 8), (1, 0), (1, 1)]


def test_what_waits_is_told_whatever_a_batch_takes() -> None:
    """That is where the lag is read from."""
    source = reader()
    source.latestOffset(source.initialOffset(), ReadMaxRows(10))
    assert source.reportLatestOffset() == ENDS


def test_spark_may_ask_for_all() -> None:
    """Then the option does not count; and older versions of PySpark give neither start nor limit."""
    assert reader().latestOffset(reader().initialOffset(), ReadAllAvailable()) == ENDS
    assert reader().latestOffset() == ENDS


def test_available_now_ends_where_the_load_is_now() -> None:
    """What comes later is not waited for."""
    source = reader(profile="0s:1000000")
    source.prepareForTriggerAvailableNow()
    assert source.reportLatestOffset() == source.latestOffset() == source.latestOffset()


def test_many_rows_come_in_several_parts() -> None:
    """No executor needs memory for a whole backlog at once."""
    source = reader()
    [part] = source.partitions({"0": 0}, {"0": 25_000})
    assert [batch.num_rows for batch in source.read(part)] == [10_000, 10_000, 5_000]


def test_a_faulty_option_is_told_when_the_query_is_defined() -> None:
    """Not when its first batch fails."""
    with pytest.raises(ValueError, match="option partitions"):
        LoadSource({**OPTIONS, "partitions": "none"})


def test_executors_need_no_headgate(tmp_path: Path) -> None:
    """What is sent to them brings everything along but PySpark and PyArrow."""
    part = load.Slice(partition=1, begin=0, end=3)
    with by_value():
        pickled = cloudpickle.dumps((LoadSource, part))  # type: ignore[no-untyped-call]
    (tmp_path / "reader").write_bytes(pickled)
    program = (
        "import pickle, sys; sys.modules['headgate'] = None\n"
        "source, part = pickle.load(open(sys.argv[1], 'rb'))\n"
        f"rows = source({OPTIONS!r}).streamReader(None).read(part)\n"
        "print([row['offset'] for batch in rows for row in batch.to_pylist()])"
    )
    arguments = [sys.executable, "-c", program, str(tmp_path / "reader")]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.stdout == "[0, 1, 2]\n", done.stderr
