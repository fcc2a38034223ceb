"""Samples that come from elsewhere stand in the log once, however often they come and whoever was killed meanwhile."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

import pytest

from headgate.errors import UnreachableError
from headgate.model.identity import JobKey
from headgate.model.samples import JobSample
from headgate.samplelog.compaction import compact
from headgate.samplelog.messages import message_of
from headgate.samplelog.reader import LogReader
from headgate.samplelog.receiving import Receiver
from headgate.testing.builders import ORDERS, at, chain, sample

PAYMENTS = JobKey("prod", "payments")


def one(seconds: float, job: JobKey = ORDERS, parallelism: int = 1) -> JobSample:
    """Take a sample of a job."""
    return sample(chain({"source": parallelism}), job=job, tick=at(seconds))


def messages(*samples: JobSample) -> Iterable[bytes]:
    """Write samples as they are sent."""
    return list(map(message_of, samples))


def ticks(log: Path, table: str = "samples") -> list[tuple[str, float]]:
    """Give the jobs and the seconds of all rows, in order."""
    rows = LogReader(log).read(table, at(-7200), at(7200)).to_pylist()
    return sorted((row["job"].removeprefix("prod/"), row["at_ms"] / 1000 - at(0).timestamp()) for row in rows)


def files(log: Path) -> dict[str, bytes]:
    """Give all files of a log."""
    return {str(path.relative_to(log)): path.read_bytes() for path in log.rglob("*.parquet")}


def test_a_batch_is_in_the_log_before_anybody_decides_by_it(tmp_path: Path) -> None:
    """The newest sample of each job is known, ticks of a batch may be several, and their order is no matter."""
    receiver = Receiver(tmp_path)
    receiver.take(messages(one(20), one(10, PAYMENTS), one(10)), shard="a0")
    assert ticks(tmp_path) == ticks(tmp_path, "jobs") == [("orders", 10), ("orders", 20), ("payments", 10)]
    assert receiver.newest(ORDERS) == one(20)
    assert receiver.newest(PAYMENTS) == one(10, PAYMENTS)
    assert receiver.newest(JobKey("prod", "nobody")) is None


def test_a_message_that_comes_twice_counts_once(tmp_path: Path) -> None:
    """In one batch, in the next one, and after a restart, when only the log knows of it."""
    receiver = Receiver(tmp_path)
    receiver.take(messages(one(10), one(10)), shard="a0")
    receiver.take(messages(one(10), one(20)), shard="a1")
    Receiver(tmp_path).take(messages(one(10), one(20), one(30)), shard="a2")
    assert ticks(tmp_path) == [("orders", 10), ("orders", 20), ("orders", 30)]


def test_an_old_message_that_comes_twice_counts_once_although_new_ones_came_first(tmp_path: Path) -> None:
    """After a restart, what the first batch has not asked of the log, a later one does."""
    Receiver(tmp_path).take(messages(one(10)), shard="a0")
    after = Receiver(tmp_path)
    after.take(messages(one(20, PAYMENTS)), shard="a1")
    after.take(messages(one(10)), shard="a2")
    assert ticks(tmp_path) == [("orders", 10), ("payments", 20)]


def test_one_jobs_late_message_counts_beside_anothers(tmp_path: Path) -> None:
    """A partition that was away for a while brings older ticks than the others."""
    receiver = Receiver(tmp_path)
    receiver.take(messages(one(10), one(20)), shard="a0")
    receiver.take(messages(one(10, PAYMENTS), one(20, PAYMENTS)), shard="a1")
    assert ticks(tmp_path) == [("orders", 10), ("orders", 20), ("payments", 10), ("payments", 20)]


def test_a_batch_that_is_taken_again_after_a_restart_replaces_itself(tmp_path: Path) -> None:
    """Its files are there already, whole or in part, and must not make its own messages old news."""
    before = Receiver(tmp_path)
    before.take(messages(one(10)), shard="a0")
    before.take(messages(one(20), one(20, PAYMENTS)), shard="a1")
    written = files(tmp_path)
    (cut_short,) = (name for name in written if name.startswith("samples") and name.endswith("-a1.parquet"))
    (tmp_path / cut_short).unlink()

    after = Receiver(tmp_path)
    after.take(messages(one(20), one(20, PAYMENTS)), shard="a1")

    assert ticks(tmp_path) == [("orders", 10), ("orders", 20), ("payments", 20)]
    assert files(tmp_path).keys() == written.keys()
    assert after.newest(PAYMENTS) == one(20, PAYMENTS)


def test_a_batch_that_could_not_be_written_is_taken_again(tmp_path: Path) -> None:
    """Until the log has it, nothing of it counts as having been here, and nobody decides by it."""
    log = tmp_path / "log"
    receiver = Receiver(log)
    receiver.take(messages(one(10)), shard="a0")
    samples = log / "samples"
    samples.rename(tmp_path / "away")
    samples.write_text("not a folder")
    with pytest.raises(UnreachableError, match="cannot be written"):
        receiver.take(messages(one(20)), shard="a1")
    assert receiver.newest(ORDERS) == one(10)

    samples.unlink()
    (tmp_path / "away").rename(samples)
    receiver.take(messages(one(20)), shard="a1")
    assert ticks(log) == [("orders", 10), ("orders", 20)]


def test_what_was_compacted_meanwhile_is_known(tmp_path: Path) -> None:
    """A topic that is read from its begin once more brings nothing twice."""
    first = [one(10 * number) for number in range(1, 4)]
    Receiver(tmp_path).take(messages(*first), shard="a0")
    compact(tmp_path, at(7200), closed_for=timedelta())
    Receiver(tmp_path).take(messages(*first, one(40)), shard="b0")
    assert ticks(tmp_path) == [("orders", 10), ("orders", 20), ("orders", 30), ("orders", 40)]


def test_a_graph_is_written_when_it_is_new(tmp_path: Path) -> None:
    """Not with each batch: there are thousands of them."""
    receiver = Receiver(tmp_path)
    for number, parallelism in enumerate((1, 1, 2, 2)):
        receiver.take(messages(one(10 * number, parallelism=parallelism)), shard=f"a{number}")
    assert ticks(tmp_path, "vertices") == [("orders", 0), ("orders", 20)]
    assert LogReader(tmp_path).latest_topology(ORDERS) == chain({"source": 2})


def test_a_message_that_cannot_be_read_does_not_hold_up_the_others(tmp_path: Path) -> None:
    """It is told of, with what is wrong with it."""
    told: list[str] = []
    Receiver(tmp_path, refused=told.append).take([b'{"version":9}', b"", *messages(one(10))], shard="a0")
    assert ticks(tmp_path) == [("orders", 10)]
    (why,) = told
    assert why.startswith("2 messages were left out, the first of them: a sample of message version 9")


def test_a_sample_of_the_future_is_refused(tmp_path: Path) -> None:
    """It would make all that come until then old news."""
    told: list[str] = []
    receiver = Receiver(tmp_path, refused=told.append, clock=lambda: at(0))
    receiver.take(messages(one(300), one(301)), shard="a0")
    assert ticks(tmp_path) == [("orders", 300)]
    assert told[0].endswith("Hint: compare the clocks of both machines")


def test_a_job_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    """Its sample is; that its messages were here is not."""
    receiver = Receiver(tmp_path)
    receiver.take(messages(one(10)), shard="a0")
    receiver.forget(ORDERS)
    receiver.take(messages(one(10)), shard="a1")
    assert receiver.newest(ORDERS) is None
    assert ticks(tmp_path) == [("orders", 10)]
