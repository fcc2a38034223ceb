"""Two reducers, one result: Spark SQL and numpy agree to the last bit on whatever a log may hold."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from headgate.algorithm.reduce import reduce_windows as reduce_with_numpy
from headgate.model.measures import Measure, MeasureKind
from headgate.model.tables import SAMPLES
from headgate.model.windows import COLUMNS, KEYS
from headgate.pipeline.arrow import WINDOWS, arrays
from headgate.pipeline.schemas import spark_schema
from headgate.pipeline.windows import reduce_windows
from headgate.samplelog import parquet
from headgate.samplelog.compaction import compact
from headgate.samplelog.layout import Layout, epoch_ms
from headgate.samplelog.reader import LogReader
from headgate.testing.builders import START, at

pytestmark = pytest.mark.spark

NEVER = timedelta()
_LARGEST = {MeasureKind.COUNTER: 2**62, MeasureKind.GAUGE: 2**47 - 1}


@st.composite
def samples(draw: st.DrawFn) -> pa.Table:
    """Draw rows of a few jobs: holes, infinities, several epochs, huge values, an engine whose clock lags."""
    rows = []
    for job in draw(st.lists(st.sampled_from(["a/x", "a/y", "b/ö"]), unique=True, min_size=1)):
        for vertex in ("v0", "v1"):
            epoch, lateness = 0, draw(st.integers(0, 5_000))
            for tick in draw(st.lists(st.integers(0, 40), unique=True, max_size=12).map(sorted)):
                epoch += draw(st.sampled_from([0, 0, 0, 1]))
                rows.append(draw(row(job, vertex, epoch, tick=tick, measured=10_000 * tick - lateness)))
    return pa.Table.from_pylist(draw(st.permutations(rows)), schema=SAMPLES)


def row(job: str, vertex: str, epoch: int, *, tick: int, measured: int) -> st.SearchStrategy[dict[str, object]]:
    """Draw one row; each measure may be missing or infinite."""
    start = epoch_ms(START)
    known = {measure.column: st.none() | integers(measure) for measure in Measure}
    return st.fixed_dictionaries(
        {
            "job": st.just(job),
            "vertex": st.just(vertex),
            "at_ms": st.just(start + 10_000 * tick),
            "measured_ms": st.just(start + measured),
            "epoch": st.just(epoch),
            "parallelism": st.integers(1, 9),
            "infinite": st.integers(0, 2 ** len(Measure) - 1),
            **known,
        }
    )


def integers(measure: Measure) -> st.SearchStrategy[int]:
    """Draw a stored value of a measure."""
    largest = _LARGEST[measure.kind]
    return st.integers(-largest, largest) | st.integers(0, 3)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(table=samples(), ticks_a_file=st.integers(1, 5))
def test_the_reducers_are_equal_to_the_last_bit(spark: SparkSession, table: pa.Table, ticks_a_file: int) -> None:
    """In shuffled rows over several files, before and after compaction."""
    expected = as_rows(with_numpy(table))
    with TemporaryDirectory() as folder:
        root = Path(folder)
        write_log(root, table, ticks_a_file)
        assert as_rows(with_spark(spark, root)) == expected
        compact(root, at(7200), closed_for=NEVER, grace=NEVER)
        assert as_rows(with_spark(spark, root)) == expected


def write_log(root: Path, table: pa.Table, ticks_a_file: int) -> None:
    """Write the rows as a log of as many files as they give, at least one."""
    for number in range(0, max(table.num_rows, 1), ticks_a_file):
        path = Layout(root).tick_file("samples", at(10 * number), "0")
        parquet.write(path, table.slice(number, ticks_a_file))


def with_spark(spark: SparkSession, root: Path) -> pa.Table:
    """Reduce all rows of a log on Spark."""
    files = map(str, LogReader(root).files("samples", START, at(3599)))
    return reduce_windows(spark.read.schema(spark_schema(SAMPLES)).parquet(*files)).toArrow().cast(WINDOWS)


def with_numpy(table: pa.Table) -> pa.Table:
    """Reduce rows in process, as an Arrow table."""
    reduced = reduce_with_numpy(arrays(table))
    columns = {
        name: pa.array(column.values, mask=~column.valid, type=WINDOWS.field(name).type)
        for name, column in reduced.columns.items()
    }
    keys = {"job": pa.array(reduced.job.tolist()), "vertex": pa.array(reduced.vertex.tolist())}
    return pa.table(keys | columns).select(list(COLUMNS)).cast(WINDOWS)


def as_rows(windows: pa.Table) -> list[dict[str, object]]:
    """Give the windows as rows in one order."""
    rows: list[dict[str, object]] = windows.sort_by([(key, "ascending") for key in KEYS]).to_pylist()
    return rows
