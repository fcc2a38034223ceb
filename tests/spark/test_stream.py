"""Samples that come in on Kafka: the same log, hence the same decisions, whatever happens on the way."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.services import kafka, spark_jars
from tests.services.kafka import Kafka

from headgate.config.other import OtherOptions
from headgate.model.samples import JobSample
from headgate.options.samples import KafkaOptions
from headgate.pipeline.stream import SampleStream
from headgate.replay.comparing import Verdict
from headgate.replay.in_memory import replay_in_memory
from headgate.replay.redeciding import Alternative
from headgate.replay.redeploys import Redeploys
from headgate.replay.stretch import Stretch
from headgate.samplelog.reader import LogReader
from headgate.samplelog.receiving import Receiver
from headgate.samplelog.sending import KafkaSampleSink, open_sink
from headgate.testing.builders import chain, sample
from headgate.testing.recorded import RecordedService
from headgate.testing.simulated import growing_fleet

pytestmark = pytest.mark.spark

MINUTE = timedelta(minutes=1)
LAST_CALL = timedelta(seconds=30)
_PATIENCE_S = 90.0
_TABLES = ("samples", "jobs", "signals")


@dataclass(kw_only=True)
class Driver:
    """What receives, one process after the other: each knows only what the checkpoint and the log tell."""

    session: SparkSession
    options: KafkaOptions
    log: Path
    receiver: Receiver = field(init=False)
    stream: SampleStream = field(init=False)
    failures: list[str] = field(default_factory=list)

    def start(self) -> None:
        """Start a process that knows nothing yet."""
        self.receiver = Receiver(self.log, refused=self.failures.append)
        self.stream = SampleStream(
            self.options, self.receiver, pace=timedelta(milliseconds=200), failed=self.failures.append
        )
        self.stream.go_on(self.session)

    def wait_for(self, sample: JobSample) -> None:
        """Go on until a sample has come."""
        until = time.monotonic() + _PATIENCE_S
        while self.receiver.newest(sample.job) != sample:
            self.stream.go_on(self.session)
            assert time.monotonic() < until, self.failures
            time.sleep(0.1)

    def die_before_commit(self) -> None:
        """End as if killed after the last batch was written, and before the checkpoint knew of it."""
        self.stream.close()
        commits = self.options.checkpoint / "commits"
        last = max((path for path in commits.iterdir() if path.name.isdigit()), key=lambda path: int(path.name))
        for path in (last, commits / f".{last.name}.crc"):
            path.unlink(missing_ok=True)


@pytest.fixture(scope="module")
def broker() -> Iterator[Kafka]:
    """Run a broker of our own, which is stopped and started again."""
    spark_jars.need("spark-kafka")
    with kafka.running() as broker:
        yield broker


@pytest.fixture
def options(broker: Kafka, tmp_path: Path) -> KafkaOptions:
    """Give the way there, over a topic of the test's own."""
    broker.create(tmp_path.name, 3)
    return KafkaOptions(bootstrap_servers=broker.address, topic=tmp_path.name, checkpoint=tmp_path / "checkpoint")


@pytest.fixture
def sink(options: KafkaOptions) -> KafkaSampleSink:
    """Give what sends."""
    return open_sink(options)


@pytest.fixture
def driver(spark: SparkSession, options: KafkaOptions, tmp_path: Path) -> Iterator[Driver]:
    """Give what receives."""
    driver = Driver(session=spark, options=options, log=tmp_path / "received")
    driver.start()
    yield driver
    driver.stream.close()


def fleet(root: Path, also: Callable[[Sequence[JobSample]], None]) -> RecordedService:
    """Give a service over three jobs that grow at different times; what it samples goes to its log, and there too."""
    return RecordedService(scenario=growing_fleet(), root=root, also=also)


def rows(log: Path, table: str, run: RecordedService) -> list[tuple[object, ...]]:
    """Give the rows of a table, in an order of their own."""
    read = LogReader(log).read(table, run.decisions[0].at - MINUTE, run.now)
    return sorted((tuple(row.values()) for row in read.to_pylist()), key=str)


def verdicts(log: Path, run: RecordedService) -> dict[Verdict, int]:
    """Decide a run again over another log, and count what each decision is beside that of the run."""
    for table in ("decisions", "circumstances"):
        shutil.copytree(run.root / table, log / table)
    stretch = Stretch(begin=run.decisions[0].at, until=run.now, longest_window=15 * MINUTE, pattern="*")
    alternative = Alternative(other=OtherOptions.read({}), redeploys=Redeploys())
    found: dict[Verdict, int] = {}
    for tally in replay_in_memory(LogReader(log), stretch, alternative, lambda _done, _all: None):
        found[tally.first.verdict] = found.get(tally.first.verdict, 0) + tally.count
    return found


def test_samples_through_kafka_are_decided_on_as_those_written_directly(
    broker: Kafka, sink: KafkaSampleSink, driver: Driver, tmp_path: Path
) -> None:
    """A broker restarts, a driver dies before its commit, messages come twice: byte for byte the same."""
    sent: list[JobSample] = []

    def send(samples: Sequence[JobSample]) -> None:
        sink.append(samples)
        sent.extend(samples)

    run = fleet(tmp_path / "direct", send)
    run.advance_to(MINUTE)
    driver.wait_for(sent[-1])

    broker.stop()
    run.advance_to(2 * MINUTE)
    broker.start()
    driver.wait_for(sent[-1])

    driver.die_before_commit()
    sink.append(sent[-1:])
    run.advance_to(3 * MINUTE)
    driver.start()
    sink.append(sent[:3])
    run.advance_to(4 * MINUTE)
    sink.close(LAST_CALL)
    last = sent[-3:]
    for one in last:
        driver.wait_for(one)

    assert [rows(driver.log, table, run) for table in _TABLES] == [rows(run.root, table, run) for table in _TABLES]
    assert verdicts(driver.log, run) == {Verdict.EQUAL: len(run.decisions)}
    assert {decision.job for decision in run.decisions if decision.acts} == {one.job for one in last}
    assert driver.failures == []


def test_a_log_that_cannot_be_written_delays_samples(sink: KafkaSampleSink, driver: Driver) -> None:
    """The query ends with the reason, and a new one takes up what it left, nothing of which was lost."""
    driver.log.write_text("not a folder")
    one = sample(chain({"source": 1}))
    sink.append([one])
    until = time.monotonic() + _PATIENCE_S
    while not driver.failures:
        driver.stream.go_on(driver.session)
        assert time.monotonic() < until
        time.sleep(0.1)
    assert str(driver.log) in driver.failures[0]

    driver.log.unlink()
    driver.wait_for(one)
    assert LogReader(driver.log).read("samples", one.at, one.at).num_rows == 1
