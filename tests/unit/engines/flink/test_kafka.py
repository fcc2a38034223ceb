"""A source that reads Kafka: what waits before it, by whom that is told, and what it cannot reach."""

from __future__ import annotations

import json
import math
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.unit.algorithm.arrival.series import Told, stretches_of
from tests.unit.engines.flink.kafka_story import SOURCE, Brokers, told

from headgate.algorithm.arrival.estimate import arrivals
from headgate.engines.flink.gauges import Aggregate
from headgate.engines.flink.kafka import KafkaReading
from headgate.engines.flink.kafka_names import kafka_names
from headgate.model.lag import LagOrigin
from headgate.model.measures import JobMeasure, Measure
from headgate.testing.fake_job import FakeJob, FakeVertex
from headgate.testing.watch import FlinkWatch

FIXTURES = Path(__file__).parents[3] / "fixtures" / "flink" / "kafka"
EIGHT = frozenset(("in", number) for number in range(8))


def names(recording: str) -> list[str]:
    """Give recorded names of metrics."""
    found: list[str] = json.loads((FIXTURES / f"{recording}.json").read_text())
    return found


def looks(recording: str) -> list[dict[str, Any]]:
    """Give recorded looks at a job that was rescaled from 1 to 4 to 3."""
    return [json.loads(line) for line in (FIXTURES / f"{recording}.jsonl").read_text().splitlines()]


def test_partitions_are_found_among_names() -> None:
    """Eight, whether their names stand once or, after two rescales, up to three times."""
    settled = kafka_names(names("names_settled"), offsets=True)

    assert (settled.partitions, settled.topics) == (EIGHT, (8,))
    assert kafka_names(names("names_after_two_rescales"), offsets=True).partitions == EIGHT
    assert not kafka_names(["Source__source.pendingRecords", "Source__source.numRecordsIn"], offsets=True)


def test_offsets_are_asked_for_only_where_they_are_used() -> None:
    """They are two names a partition; who uses none knows all the same how many partitions there are."""
    found = kafka_names(names("names_settled"), offsets=False)

    assert (found.topics, len(found.wanted)) == ((8,), 2)


def test_the_largest_of_several_offsets_counts() -> None:
    """Subtasks of an earlier layout still tell of where they were."""
    found = kafka_names(names("names_after_two_rescales"), offsets=True)
    of_three = sorted(name for name, partition in found.emitted.items() if partition == ("in", 3))
    values = {name: Aggregate(max=float(100 * place)) for place, name in enumerate(of_three)}

    assert len(of_three) > 1
    assert KafkaReading(names=found, values=values).positions.emitted == {("in", 3): 100.0 * (len(of_three) - 1)}


@pytest.mark.parametrize("recording", ["small_fetch", "default_fetch"])
def test_sums_of_two_layouts_are_not_believed(recording: str) -> None:
    """
    For two to four seconds after each rescale the recorded sums are those of old and new subtasks together.

    What is believed of the connector is then never far above what really waits: at most what lay in the partitions.
    """
    found = kafka_names(names("names_settled"), offsets=False)
    believed = [look for look in looks(recording) if _is_settled(found, look)]

    assert {look["parallelism"] for look in believed} == {1, 4, 3}
    assert all(look["pending"] <= min(look["behind_emitted"], look["behind_committed"]) + 2500 for look in believed)
    assert not _is_settled(found, next(look for look in looks(recording) if look["parallelism"] == 4))


def _is_settled(found: Any, look: dict[str, Any]) -> bool:
    pending = look["pending_by_subtask"]
    if look["pending"] is None or len(pending) != look["parallelism"]:
        return False
    telling = [each for each in pending if each is not None]
    assigned = look["assigned"]
    each = Aggregate(
        sum=assigned,
        avg=assigned / len(telling) if telling else math.nan,
        max=float(math.ceil(assigned / max(1, len(telling)))),
    )
    reading = KafkaReading(names=found, values=dict.fromkeys(found.assigned, each))
    return reading.is_settled(look["parallelism"], timedelta(seconds=5))


@pytest.mark.parametrize("recording", ["small_fetch", "default_fetch"])
def test_what_comes_in_is_known_through_two_rescales(recording: str) -> None:
    """2,000/s are written, whatever the connector tells meanwhile, and no change of that is seen."""
    told = [
        Told(at_s=look["t"], read=0, lag=look["pending"], epoch=look["parallelism"], arrived=look["ends"])
        for look in looks(recording)
        if 5 < look["t"] < 70
    ]

    known = arrivals(stretches_of(told))

    assert known.rate[0] == pytest.approx(2000, rel=0.05)
    assert not known.changed[0]


async def test_what_waits_is_told_by_the_brokers(kafka: FlinkWatch, source: FakeVertex, brokers: Brokers) -> None:
    """The connector says that nothing waits; the partitions end at 4,000 and were read up to 3,000 each."""
    source.emitted, brokers.ends = [2999.0] * 4, [4000.0] * 4
    await kafka.sample()
    now = await kafka.sample()

    assert told(now) == (4000, LagOrigin.OFFSETS)
    assert now.vertices[SOURCE].values[Measure.ARRIVED] == 16_000


async def test_after_a_restart_what_was_committed_counts(
    kafka: FlinkWatch, source: FakeVertex, brokers: Brokers
) -> None:
    """No subtask tells of a position yet, and none of what was committed: the history does not wait once more."""
    source.emitted, source.committed, brokers.ends = [90_499.0] * 4, [90_000.0] * 4, [90_500.0] * 4
    await kafka.sample()
    source.emitted = source.committed = [-1.0] * 4

    assert told(await kafka.sample()) == (2000, LagOrigin.COMMITTED)


async def test_who_waits_for_records_has_read_all_there_were(
    kafka: FlinkWatch, source: FakeVertex, brokers: Brokers
) -> None:
    """A job that began at the ends never tells a position of partitions to which nobody writes."""
    brokers.ends = [5000.0] * 4
    assert told(await kafka.sample()) == (None, LagOrigin.UNKNOWN)

    assert told(await kafka.sample()) == (0, LagOrigin.COMMITTED)
    assert source.idle_ms > 0


async def test_who_reads_one_partition_after_the_other_has_not_read_all(
    kafka: FlinkWatch, job: FakeJob, source: FakeVertex, brokers: Brokers
) -> None:
    """A job that begins with a backlog is busy: of the partitions that wait for their turn nothing is known yet."""
    source.capacity, job.rate = 100.0, 500.0
    source.emitted, brokers.ends = [99.0, -1.0, -1.0, -1.0], [5000.0] * 4
    await kafka.sample()

    assert told(await kafka.sample()) == (None, LagOrigin.UNKNOWN)


async def test_an_old_backlog_waits_where_the_partitions_begin(
    kafka: FlinkWatch, job: FakeJob, source: FakeVertex, brokers: Brokers
) -> None:
    """What the job has read leads from one partition's beginning to its position: so the others wait as a whole."""
    source.capacity, job.rate, brokers.begin = 100.0, 500.0, 1000.0
    source.emitted, brokers.ends = [1999.0, -1.0, -1.0, -1.0], [5000.0] * 4

    assert told(await kafka.sample()) == (3000 + 3 * 4000, LagOrigin.COMMITTED)


async def test_the_fullest_partition_is_told(kafka: FlinkWatch, source: FakeVertex, brokers: Brokers) -> None:
    """Of 10,000 records that wait one partition has 7,000."""
    source.emitted, brokers.ends = [99.0] * 4, [7100.0, 1100.0, 1100.0, 1100.0]
    await kafka.sample()

    share = (await kafka.sample()).vertices[SOURCE].values[Measure.FULLEST_SHARE]
    assert share == pytest.approx(0.7)


async def test_partitions_that_are_added_are_no_flood(kafka: FlinkWatch, source: FakeVertex, brokers: Brokers) -> None:
    """As long as the job does not read all there are, what is written to the topic is not what comes in."""
    source.partitions, source.emitted, source.committed = 3, [99.0] * 4, ()
    brokers.ends = [100.0, 100.0, 100.0, 1_000_000.0]
    await kafka.sample()
    values = (await kafka.sample()).vertices[SOURCE].values

    assert Measure.ARRIVED not in values
    assert values[Measure.LAG] == 0


async def test_two_lags_are_not_mixed(kafka: FlinkWatch, source: FakeVertex, brokers: Brokers) -> None:
    """For half a minute after the brokers fall silent the lag is not known, then it is the connector's."""
    source.emitted, brokers.ends = [99.0] * 4, [200.0] * 4
    await kafka.sample()
    brokers.ends = "topic input cannot be had"

    assert [told(await kafka.sample()) for _ in range(4)] == [
        (None, LagOrigin.OFFSETS),
        (None, LagOrigin.OFFSETS),
        (None, LagOrigin.OFFSETS),
        (0, LagOrigin.CONNECTOR),
    ]


async def test_a_connector_that_fetches_ahead_is_doubted(watch: FlinkWatch, job: FakeJob, source: FakeVertex) -> None:
    """Without brokers to ask: its source never idles, so that as much may wait as has been fetched."""
    source.capacity, job.rate = 100.0, 500.0
    await watch.sample()
    assert told(await watch.sample())[1] is LagOrigin.DOUBTED

    job.rate, job.pending, source.capacity = 500.0, 0.0, 10_000.0
    assert told(await watch.sample())[1] is LagOrigin.CONNECTOR


async def test_a_source_that_tells_nothing_has_no_lag_while_it_idles(
    watch: FlinkWatch, job: FakeJob, source: FakeVertex
) -> None:
    """Once it is busy all the time nobody knows."""
    source.has_lag, source.partitions, source.committed, source.connections = False, None, (), None
    await watch.sample()
    assert told(await watch.sample()) == (None, LagOrigin.IDLENESS)

    job.rate, source.capacity = 500.0, 100.0
    assert told(await watch.sample()) == (None, LagOrigin.UNKNOWN)


async def test_marks_of_transactions_are_nothing_that_waits(
    kafka: FlinkWatch, source: FakeVertex, brokers: Brokers
) -> None:
    """The last offset of each partition is one, and the source waits for records."""
    source.emitted, brokers.ends = [98.0] * 4, [100.0] * 4
    await kafka.sample()

    assert told(await kafka.sample()) == (0, LagOrigin.OFFSETS)


async def test_another_topic_begins_anew(kafka: FlinkWatch, source: FakeVertex, brokers: Brokers) -> None:
    """What lies in a topic that is read from now on did not come in at that moment."""
    source.partitions, source.emitted, source.committed = 3, [99.0] * 4, ()
    brokers.ends = [100.0] * 3
    before = await kafka.sample()
    source.partitions, brokers.ends = 4, [100.0, 100.0, 100.0, 1_000_000.0]
    after = await kafka.sample(after_s=70)

    assert after.vertices[SOURCE].epoch > before.vertices[SOURCE].epoch


async def test_values_of_an_earlier_layout_are_left_out(kafka: FlinkWatch, source: FakeVertex) -> None:
    """A subtask that is gone still tells of four partitions beside the two that have them now."""
    source.parallelism, source.assigned = 2, [4.0, 2.0, 2.0]
    assert SOURCE not in (await kafka.sample()).vertices

    source.assigned = [2.0, 2.0]
    assert SOURCE in (await kafka.sample()).vertices


async def test_a_source_whose_brokers_are_not_declared_is_told_of_at_the_first_look(
    kafka: FlinkWatch, watch: FlinkWatch, brokers: Brokers
) -> None:
    """No longer once they are, and not where they would never be asked."""
    brokers.declared = False
    assert (await kafka.sample()).values[JobMeasure.BROKERS_UNKNOWN] == 1
    brokers.declared = True
    assert JobMeasure.BROKERS_UNKNOWN not in (await kafka.sample()).values
    assert JobMeasure.BROKERS_UNKNOWN not in (await watch.sample()).values


async def test_a_source_that_reads_something_else_has_no_brokers(
    kafka: FlinkWatch, job: FakeJob, brokers: Brokers
) -> None:
    """Nothing is to be declared for it."""
    brokers.declared, job.vertices[0].partitions = False, None
    assert JobMeasure.BROKERS_UNKNOWN not in (await kafka.sample()).values
