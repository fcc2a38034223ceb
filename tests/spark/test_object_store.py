"""The log in a bucket of a real object store: written, kept up, read here and on Spark, and gone for a while."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.services import object_store, spark_jars
from tests.services.object_store import BUCKET, ObjectStore

from headgate.config.other import OtherOptions
from headgate.doctor.checks.places import check_places
from headgate.doctor.findings import Finding, Verdict
from headgate.doctor.looks.places import look_at_places
from headgate.errors import UnreachableError
from headgate.model.measures import Measure
from headgate.model.metrics import EvaluatedMetrics
from headgate.model.samples import JobSample, VertexSample
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import ClusterOptions, LogOptions, ServiceOptions
from headgate.pipeline.live import SparkEvaluator
from headgate.pipeline.packages import session_settings
from headgate.ports import Candidate
from headgate.replay import comparing
from headgate.replay.distributed import replay_on_spark
from headgate.replay.in_memory import replay_in_memory
from headgate.replay.redeciding import Alternative
from headgate.replay.redeploys import Redeploys
from headgate.replay.stretch import Stretch
from headgate.samplelog import files
from headgate.samplelog.bucket import ObjectPath
from headgate.samplelog.compaction import compact
from headgate.samplelog.files import Address
from headgate.samplelog.layout import Layout
from headgate.samplelog.reader import LogReader
from headgate.samplelog.retention import expire
from headgate.samplelog.writer import SampleLog
from headgate.testing.builders import START, at, chain, sample
from headgate.testing.recorded import RecordedService
from headgate.testing.simulated import growing_fleet

pytestmark = pytest.mark.spark

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
TOPOLOGY = chain({"source": 2, "sink": 1})
CLUSTERS = (ClusterOptions(name="prod", url="http://127.0.0.1:1"),)


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    """Run a store of our own, which is stopped and started again."""
    with object_store.running() as store:
        yield store


@pytest.fixture
def log(store: ObjectStore, tmp_path: Path) -> LogOptions:
    """Give a log of the test's own."""
    return store.log(tmp_path.name)


@pytest.fixture
def root(log: LogOptions) -> Address:
    """Give its root."""
    return files.root_of(log)


@pytest.fixture
def on_s3a(spark: SparkSession, store: ObjectStore) -> SparkSession:
    """Give the session with what it needs to read from the store."""
    spark_jars.need("spark-s3a")
    options = ServiceOptions(clusters=CLUSTERS, log=store.log("any"), spark_settings=store.spark_settings)
    hadoop = spark.sparkContext._jsc.hadoopConfiguration()
    for name, value in session_settings(options).items():
        hadoop.set(name.removeprefix("spark.hadoop."), value)
    return spark


def rows_of(root: Address) -> list[dict[str, object]]:
    """Read all samples, in order."""
    table = LogReader(root).read("samples", START, START + 10 * HOUR)
    rows: list[dict[str, object]] = table.sort_by([("at_ms", "ascending"), ("vertex", "ascending")]).to_pylist()
    return rows


def fill(root: Address, *seconds: int) -> None:
    """Write a tick at each of these seconds into the story."""
    log = SampleLog(root)
    for second in seconds:
        log.append([taken(second)])


def taken(second: int) -> JobSample:
    """Give what a collector sees: 100 records/s, half of the time busy."""
    counters = {
        Measure.NUM_RECORDS_IN: 100.0 * second,
        Measure.NUM_RECORDS_OUT: 100.0 * second,
        Measure.ACCUMULATED_BUSY_TIME: 500.0 * second,
        Measure.LAG: 0.0,
    }
    made = sample(TOPOLOGY, tick=at(second))
    return replace(made, vertices=dict.fromkeys(made.vertices, VertexSample(measured_at=made.at, values=counters)))


def judged(log: LogOptions) -> Finding:
    """Let the doctor look at a log."""
    options = ServiceOptions(clusters=CLUSTERS, log=log, state_store="memory")
    return next(found for found in check_places(look_at_places(options)) if found.check == "samples log")


def test_a_log_is_written_compacted_and_expires(root: Address) -> None:
    """As in a directory: no row is lost or doubled, files are put together, and old hours go."""
    fill(root, 0, 10, 20, 3600, 7200)
    before = rows_of(root)
    for minutes in (130, 140):
        compact(root, START + minutes * MINUTE, closed_for=5 * MINUTE)
    assert rows_of(root) == before
    assert [len(names) for _, names in Layout(root).listing("samples")] == [2, 2, 1]
    assert expire(root, START + 1.5 * HOUR) == 3
    assert len(rows_of(root)) == 4


def test_of_many_that_create_a_file_at_once_one_does(root: Address) -> None:
    """What the manifests rest on."""
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda number: files.create_text(root / "manifest", str(number)), range(8)))
    assert sum(made) == 1
    assert files.read_text(root / "manifest") == str(made.index(True))


def test_of_many_that_remove_the_same_files_at_once_none_fails(root: Address) -> None:
    """What another process removed in the same moment is gone, as was asked."""
    doomed = [root / f"file-{number}" for number in range(100)]
    for file in doomed:
        files.create_text(file, "")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(files.remove, [doomed] * 8))
    assert files.names(root) == []


def test_an_outage_loses_nothing(store: ObjectStore, root: Address) -> None:
    """What could not be written is told, and written when the store is back."""
    fill(root, 0)
    store.stop()
    with pytest.raises(UnreachableError, match="cannot be written"):
        fill(root, 10)
    with pytest.raises(UnreachableError, match="cannot be read"):
        rows_of(root)
    store.start()
    fill(root, 10)
    assert len(rows_of(root)) == 4


def test_the_doctor_tries_the_bucket(store: ObjectStore, log: LogOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a service does, and leaves nothing behind."""
    assert judged(log).verdict is Verdict.OK
    assert not files.hidden(files.root_of(log))
    nowhere = judged(LogOptions(path="s3a://nowhere/log", endpoint=store.endpoint))
    assert nowhere.verdict is Verdict.FAILURE
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    refused = judged(log)
    assert refused.verdict is Verdict.FAILURE
    assert "wrong" not in refused.seen


def test_spark_evaluates_over_a_bucket_as_over_a_directory(on_s3a: SparkSession, root: Address, tmp_path: Path) -> None:
    """The same numbers to the last bit, from ticks and from what was compacted."""
    seconds = range(3000, 4200, 20)
    for place in (root, tmp_path):
        fill(place, *seconds)
        compact(place, START + 1.1 * HOUR, closed_for=MINUTE)
    last = taken(seconds[-1])
    candidate = Candidate(sample=last, options=AutoscalerOptions(), window_from=at(seconds[0]))
    there, here = (
        SparkEvaluator(on_s3a, place, collect_interval=timedelta(seconds=20)).evaluate([candidate], last.at)
        for place in (root, tmp_path)
    )
    assert there == here
    assert isinstance(there[last.job], EvaluatedMetrics)


@pytest.mark.long
def test_a_run_in_a_bucket_is_replayed_byte_for_byte(on_s3a: SparkSession, root: Address, tmp_path: Path) -> None:
    """On Spark and in this process."""
    run = RecordedService(scenario=growing_fleet(), root=tmp_path / "log")
    run.advance_to(3 * MINUTE)
    upload(run.root, root)
    stretch = Stretch(begin=run.decisions[0].at, until=run.now, longest_window=15 * MINUTE, pattern="*")
    alternative = Alternative(other=OtherOptions.read({}), redeploys=Redeploys())
    for tallies in (
        replay_on_spark(on_s3a, LogReader(root), stretch, alternative),
        replay_in_memory(LogReader(root), stretch, alternative, lambda _done, _all: None),
    ):
        assert {tally.first.verdict for tally in tallies} == {comparing.Verdict.EQUAL}
        assert sum(tally.count for tally in tallies) == len(run.decisions)


def upload(folder: Path, root: Address) -> None:
    """Copy a log from a directory into a bucket."""
    for path in folder.rglob("*.parquet"):
        target = root
        for part in path.relative_to(folder).parts:
            target /= part
        files.write_whole(target, partial(_copied, path))


def _copied(path: Path, here: Path) -> None:
    shutil.copy(path, here)


def test_a_log_names_its_files_as_spark_reads_them(root: Address) -> None:
    """By the scheme of Hadoop, whatever else reads them."""
    assert isinstance(root, ObjectPath)
    fill(root, 0)
    (file,) = LogReader(root).files("samples", START, START)
    assert str(file).startswith(f"s3a://{BUCKET}/")
    assert str(file).endswith(".parquet")
