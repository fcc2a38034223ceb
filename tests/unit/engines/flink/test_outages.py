"""A source that cannot reach its brokers, and one that only seems so: an outage is no idle hour, nor the other way."""

from __future__ import annotations

from tests.unit.engines.flink.kafka_story import SOURCE, Brokers, told

from headgate.model.lag import LagOrigin, Outage
from headgate.model.measures import JobMeasure
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import FakeJob, FakeVertex
from headgate.testing.watch import FlinkWatch


def completes_one(server: FakeFlink, job: FakeJob, *, in_progress: int) -> None:
    """Let a checkpoint have completed just now, and so many be under way."""
    completed = {"latest_ack_timestamp": server.now_ms, "end_to_end_duration": 500}
    server.recorded[f"/jobs/{job.job_id}/checkpoints"] = {
        "latest": {"completed": completed},
        "counts": {"in_progress": in_progress},
    }


async def test_an_outage_is_no_idle_hour(kafka: FlinkWatch, job: FakeJob, source: FakeVertex, brokers: Brokers) -> None:
    """
    Brokers are away: the job runs, reads nothing, and its connector says that nothing waits.

    There is no sample of the source until it reads again, and for a while after that: what was held up comes at once.
    """
    source.emitted, brokers.ends = [99.0] * 4, [100.0] * 4
    before = await kafka.sample()
    job.rate, brokers.ends = 0.0, None
    away = await kafka.sample()
    brokers.ends = [900.0] * 4
    back = await kafka.sample(after_s=5)
    job.rate = 600.0
    reading = await kafka.sample(after_s=3)
    over = await kafka.sample(after_s=5)

    for sample in (away, back, reading):
        assert sample.values[JobMeasure.OUTAGE] == Outage.UNANSWERED
        assert SOURCE not in sample.vertices
    assert JobMeasure.OUTAGE not in over.values
    assert told(over) == (3200, LagOrigin.OFFSETS)
    assert over.vertices[SOURCE].epoch > before.vertices[SOURCE].epoch


async def test_brokers_that_never_answered_us_are_no_outage(
    kafka: FlinkWatch, job: FakeJob, source: FakeVertex, brokers: Brokers
) -> None:
    """They may answer the job, which has nothing to read."""
    source.emitted, brokers.ends, job.rate = [99.0] * 4, None, 0.0
    await kafka.sample()

    assert JobMeasure.OUTAGE not in (await kafka.sample()).values


async def test_a_checkpoint_that_does_not_complete_tells_of_an_outage(
    watch: FlinkWatch, server: FakeFlink, job: FakeJob, source: FakeVertex
) -> None:
    """Nobody can be asked, the connections are told as they were; three intervals of 10 s have passed."""
    assert source.connections
    completes_one(server, job, in_progress=1)
    await watch.sample()
    job.rate = 0.0

    assert JobMeasure.OUTAGE not in (await watch.sample()).values
    assert (await watch.sample(after_s=22)).values[JobMeasure.OUTAGE] == Outage.CHECKPOINT


async def test_a_pause_between_checkpoints_is_no_outage(
    watch: FlinkWatch, server: FakeFlink, job: FakeJob, source: FakeVertex
) -> None:
    """The last one was long ago, and none is under way."""
    assert source.connections
    completes_one(server, job, in_progress=0)
    job.rate = 0.0
    await watch.sample()

    assert JobMeasure.OUTAGE not in (await watch.sample(after_s=90)).values


async def test_who_reads_while_only_we_are_kept_out_is_not_cut_off(
    kafka: FlinkWatch, job: FakeJob, source: FakeVertex, brokers: Brokers
) -> None:
    """It reads for half a minute: that brokers do not answer us any more tells nothing of it, when it pauses later."""
    source.emitted, brokers.ends = [99.0] * 4, [100.0] * 4
    await kafka.sample()
    brokers.ends = None
    reading = await kafka.sample(after_s=30)
    job.rate = 0.0
    pausing = await kafka.sample()

    assert JobMeasure.OUTAGE not in reading.values
    assert JobMeasure.OUTAGE not in pausing.values


async def test_brokers_that_only_we_cannot_reach_are_no_outage(
    kafka: FlinkWatch, source: FakeVertex, brokers: Brokers
) -> None:
    """The job reads on."""
    source.emitted, brokers.ends = [99.0] * 4, [100.0] * 4
    await kafka.sample()
    brokers.ends = None

    assert JobMeasure.OUTAGE not in (await kafka.sample()).values


async def test_a_source_without_a_connection_is_cut_off(watch: FlinkWatch, job: FakeJob, source: FakeVertex) -> None:
    """It says so by itself, where the number does not freeze."""
    await watch.sample()
    job.rate, source.connections = 0.0, 0.0

    assert (await watch.sample()).values[JobMeasure.OUTAGE] == Outage.DISCONNECTED


async def test_an_idle_hour_is_no_outage(kafka: FlinkWatch, job: FakeJob, source: FakeVertex, brokers: Brokers) -> None:
    """Nothing is written, all is read: a source that reads nothing is as it should be."""
    source.emitted, brokers.ends = [99.0] * 4, [100.0] * 4
    job.rate = 0.0
    await kafka.sample()

    assert JobMeasure.OUTAGE not in (await kafka.sample()).values
