"""What is appended is read, once, by whoever asks for its window."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headgate.errors import PermanentError, UnreachableError
from headgate.model.decision import Decision, Outcome
from headgate.model.identity import JobKey
from headgate.model.reasons import Reason
from headgate.model.tables import SAMPLES
from headgate.samplelog import files
from headgate.samplelog.compaction import compact
from headgate.samplelog.files import Address
from headgate.samplelog.layout import Layout, epoch_ms
from headgate.samplelog.reader import LogReader
from headgate.samplelog.writer import SampleLog
from headgate.testing.builders import ORDERS, START, at, chain, sample
from headgate.wiring.data import shard_of_this_process

TOPOLOGY = chain({"source": 2, "sink": 1})


def ticks_read(root: Path, since: datetime, until: datetime) -> list[int]:
    """List the seconds into the story of the ticks that a window holds, a row each."""
    read = LogReader(root).read("samples", since, until)["at_ms"].to_pylist()
    return sorted((tick - epoch_ms(START)) // 1000 for tick in read)


def tick_file(root: Path) -> Path:
    """Name the file of the first tick."""
    path = Layout(root).tick_file("samples", START, "0")
    assert isinstance(path, Path)
    return path


def decision(tick: datetime, *, job: JobKey = ORDERS) -> Decision:
    """Build a decision to keep everything as it is."""
    return Decision(
        id=f"{job}@{tick}", job=job, at=tick, outcome=Outcome.KEEP, reason=Reason.BALANCED, message="all is well"
    )


def test_a_window_holds_its_ticks_ends_included(tmp_path: Path) -> None:
    """One row a vertex and tick, from the first instant to the last."""
    log = SampleLog(tmp_path)
    for second in (0, 10, 20, 30):
        log.append([sample(TOPOLOGY, tick=at(second))])
    assert ticks_read(tmp_path, at(10), at(20)) == [10, 10, 20, 20]


def test_a_window_is_found_across_hours(tmp_path: Path) -> None:
    """The turn of an hour is no seam."""
    log = SampleLog(tmp_path)
    for second in (3590, 3600, 3610, 7200):
        log.append([sample(TOPOLOGY, tick=at(second))])
    assert ticks_read(tmp_path, at(3590), at(3600)) == [3590, 3590, 3600, 3600]


def test_a_window_names_no_file_outside_it(tmp_path: Path) -> None:
    """Spark opens exactly what the window needs."""
    log = SampleLog(tmp_path)
    for second in range(0, 600, 10):
        log.append([sample(TOPOLOGY, tick=at(second))])
    assert len(LogReader(tmp_path).files("samples", at(100), at(150))) == 6


def test_a_tick_appended_again_replaces_itself(tmp_path: Path) -> None:
    """A retry, also one after a restart, leaves the tick once."""
    SampleLog(tmp_path).append([sample(TOPOLOGY)])
    SampleLog(tmp_path).append([sample(TOPOLOGY)])
    assert ticks_read(tmp_path, START, START) == [0, 0]


def test_two_shards_write_beside_each_other(tmp_path: Path) -> None:
    """The same tick of other jobs is another file."""
    SampleLog(tmp_path, shard="a").append([sample(TOPOLOGY)])
    SampleLog(tmp_path, shard="b").append([sample(TOPOLOGY, job=JobKey("prod", "other"))])
    assert ticks_read(tmp_path, START, START) == [0, 0, 0, 0]


def test_an_append_is_one_tick(tmp_path: Path) -> None:
    """Samples of two ticks in one append are a mistake of the caller."""
    with pytest.raises(ValueError, match="2 ticks"):
        SampleLog(tmp_path).append([sample(TOPOLOGY), sample(TOPOLOGY, tick=at(1))])


def test_nothing_to_append_writes_nothing(tmp_path: Path) -> None:
    """A tick at which no job was seen leaves no file."""
    SampleLog(tmp_path).append([])
    SampleLog(tmp_path).append_decisions([])
    assert not list(tmp_path.iterdir())


def test_a_topology_is_written_when_it_changes_and_once_an_hour(tmp_path: Path) -> None:
    """The table of vertices stays small, and expiring old hours loses no topology."""
    log = SampleLog(tmp_path)
    rescaled = TOPOLOGY.with_parallelism({TOPOLOGY.vertices[0].id: 5})
    for second, graph in ((0, TOPOLOGY), (10, TOPOLOGY), (20, rescaled), (30, rescaled), (3600, rescaled)):
        log.append([sample(graph, tick=at(second))])
    written = LogReader(tmp_path).read("vertices", START, at(3600))["at_ms"].unique().to_pylist()
    assert sorted(tick - epoch_ms(START) for tick in written) == [0, 20_000, 3_600_000]
    assert LogReader(tmp_path).latest_topology(ORDERS) == rescaled


def test_a_topology_of_a_repeated_tick_is_not_lost(tmp_path: Path) -> None:
    """The second writing of a tick holds every topology that the first one held."""
    log, other = SampleLog(tmp_path), JobKey("prod", "other")
    log.append([sample(TOPOLOGY)])
    log.append([sample(TOPOLOGY), sample(TOPOLOGY, job=other)])
    log.append([sample(TOPOLOGY), sample(TOPOLOGY, job=other)])
    assert LogReader(tmp_path).latest_topology(ORDERS) == TOPOLOGY
    assert LogReader(tmp_path).latest_topology(other) == TOPOLOGY


def test_processes_that_share_a_log_keep_each_its_decisions(tmp_path: Path) -> None:
    """Of the same tick, each of its own jobs."""
    other = JobKey("prod", "other")
    first, second = (SampleLog(tmp_path, shard=shard_of_this_process(1e9)) for _ in range(2))
    first.append_decisions([decision(START)])
    second.append_decisions([decision(START, job=other)])
    reader = LogReader(tmp_path)
    assert (reader.latest_decision(ORDERS), reader.latest_decision(other)) == (
        decision(START),
        decision(START, job=other),
    )


@pytest.mark.parametrize("compacted", [False, True])
def test_of_a_tick_decided_anew_after_a_restart_the_later_decision_counts(tmp_path: Path, *, compacted: bool) -> None:
    """Once, whichever file is written first and whatever has been compacted."""
    before, after = decision(START), replace(decision(START), id="anew")
    SampleLog(tmp_path, shard=shard_of_this_process(1_700_000_030.0)).append_decisions([after])
    SampleLog(tmp_path, shard=shard_of_this_process(1_700_000_000.0)).append_decisions([before])
    if compacted:
        assert compact(tmp_path, START + timedelta(hours=9), closed_for=timedelta())
    reader = LogReader(tmp_path)
    assert reader.decisions(ORDERS, START, START) == (after,)
    assert reader.latest_decision(ORDERS) == after


def test_the_latest_decision_of_a_job_is_found(tmp_path: Path) -> None:
    """Other jobs' decisions and older ones do not hide it."""
    log, other = SampleLog(tmp_path), JobKey("prod", "other")
    log.append_decisions([decision(START), decision(START, job=other)])
    log.append_decisions([decision(at(30)), decision(at(30), job=other)])
    log.append_decisions([decision(at(60), job=other)])
    reader = LogReader(tmp_path)
    assert reader.latest_decision(ORDERS) == decision(at(30))
    assert reader.decisions(ORDERS, START, at(60)) == (decision(START), decision(at(30)))
    assert reader.jobs(START, at(60)) == (ORDERS, other)[::-1] if other < ORDERS else (ORDERS, other)


def test_what_is_not_there_reads_as_empty(tmp_path: Path) -> None:
    """An unknown job, and a log that does not exist yet, are no errors."""
    reader = LogReader(tmp_path / "none")
    assert reader.latest_decision(ORDERS) is None
    assert reader.latest_topology(ORDERS) is None
    assert reader.files("samples", START, at(60)) == ()
    assert reader.read("samples", START, at(60)).schema.equals(SAMPLES)


def test_a_file_half_written_is_not_seen(tmp_path: Path) -> None:
    """What a killed writer leaves behind has a hidden name."""
    SampleLog(tmp_path).append([sample(TOPOLOGY)])
    folder = tick_file(tmp_path).parent
    (folder / ".1767225610000-0.parquet.4711").write_bytes(b"PAR1 and no end")
    assert ticks_read(tmp_path, START, at(60)) == [0, 0]


def test_a_file_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    """Guessing at columns one does not know would be a wrong number later."""
    path = tick_file(tmp_path)
    path.parent.mkdir(parents=True)
    newer = SAMPLES.with_metadata({"headgate.schema-version": "99"})
    pq.write_table(pa.Table.from_pylist([], schema=newer), path)
    with pytest.raises(PermanentError, match=r"schema version 99.*Hint"):
        LogReader(tmp_path).files("samples", START, START)
    with pytest.raises(PermanentError, match="schema version 99"):
        LogReader(tmp_path).read("samples", START, START)


def test_a_log_that_cannot_be_written_is_a_transient_error(tmp_path: Path) -> None:
    """A full or missing disk is tried again later; the text names the log."""
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(UnreachableError, match="cannot be written"):
        SampleLog(tmp_path / "file").append([sample(TOPOLOGY)])


@pytest.mark.parametrize("table", ["vertices", "jobs"])
def test_a_tick_that_was_cut_short_holds_no_samples(tmp_path: Path, table: str) -> None:
    """They are what is evaluated, and come last: nobody decides by a tick of which the rest is missing."""
    (tmp_path / table).write_text("not a folder")
    with pytest.raises(UnreachableError, match="cannot be written"):
        SampleLog(tmp_path).append([sample(TOPOLOGY)])
    assert ticks_read(tmp_path, START, START) == []


def test_a_damaged_file_is_a_transient_error(tmp_path: Path) -> None:
    """The reader names the log instead of showing a stranger's exception."""
    path = tick_file(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no parquet")
    with pytest.raises(UnreachableError, match="cannot be read"):
        LogReader(tmp_path).files("samples", START, START + timedelta(seconds=1))


def test_a_folder_that_is_no_hour_hides_nothing(tmp_path: Path) -> None:
    """Whoever made it: the log is read as if it were not there."""
    SampleLog(tmp_path).append([sample(TOPOLOGY, tick=at(10))])
    (tmp_path / "samples" / "hour=1-01-01T00").mkdir()
    assert len(Layout(tmp_path).hours("samples")) == 1
    assert ticks_read(tmp_path, at(0), at(20)) == [10, 10]


def test_a_file_that_two_write_at_once_is_that_of_one(root: Address) -> None:
    """Also where both have the same process id, as two containers on one volume may."""
    file = root / "file"

    def in_one_go(unfinished: Path) -> None:
        unfinished.write_text("the other")

    def in_two_parts(unfinished: Path) -> None:
        with unfinished.open("w") as begun:
            begun.write("the one ")
            begun.flush()
            files.write_whole(file, in_one_go)
            begun.write("that ends later")

    files.write_whole(file, in_two_parts)

    assert files.read_text(file) == "the one that ends later"
    assert files.hidden(root) == []
