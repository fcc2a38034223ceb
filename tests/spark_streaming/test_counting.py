"""The count that the other tests here rely on finds a row that is missing or there twice."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.spark_streaming.counting import Row, differences


@pytest.fixture
def query(tmp_path: Path) -> Path:
    """Give a query that has committed its batch 1: three rows of partition 0, and one of partition 1."""
    for place in ("checkpoint/commits", "checkpoint/offsets", "sink/_spark_metadata"):
        (tmp_path / place).mkdir(parents=True)
    for batch in (0, 1):
        (tmp_path / "checkpoint" / "commits" / str(batch)).touch()
    (tmp_path / "checkpoint" / "offsets" / "1").write_text('v1\n{}\n{"0": 3, "1": 1}')
    write(tmp_path, 0, [(0, 0), (0, 1)])
    write(tmp_path, 1, [(0, 2), (1, 0)])
    return tmp_path


def test_all_rows_once(query: Path) -> None:
    """A batch that was written and not committed will be written again: it does not count."""
    write(query, 2, [(0, 3)])
    assert not differences(query / "sink", query / "checkpoint")


def test_a_row_that_is_missing(query: Path) -> None:
    """It is named."""
    write(query, 1, [(1, 0)])
    assert differences(query / "sink", query / "checkpoint") == "missing 1 rows, such as [(0, 2)]; too often none"


def test_a_row_that_is_there_twice(query: Path) -> None:
    """Also where both are in one file."""
    write(query, 1, [(0, 2), (1, 0), (1, 0)])
    assert differences(query / "sink", query / "checkpoint") == "missing none; too often 1 rows, such as [(1, 0)]"


def test_a_file_that_the_sink_does_not_name_does_not_count(query: Path) -> None:
    """A task that died has left it."""
    pq.write_table(table([(0, 0)]), query / "sink" / "orphan.parquet")
    assert not differences(query / "sink", query / "checkpoint")


def write(query: Path, batch: int, rows: Sequence[Row]) -> None:
    """Write a batch as Spark's file sink does."""
    file = query / "sink" / f"part-{batch}.parquet"
    pq.write_table(table(rows), file)
    (query / "sink" / "_spark_metadata" / str(batch)).write_text(f"v1\n{json.dumps({'path': f'file://{file}'})}")


def table(rows: Sequence[Row]) -> pa.Table:
    """Make a table of rows."""
    return pa.table({"partition": [row[0] for row in rows], "offset": [row[1] for row in rows]})
