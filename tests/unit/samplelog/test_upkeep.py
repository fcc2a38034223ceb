"""Closed hours are put together and old ones dropped, and no reader notices: in a directory and in a bucket alike."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from obstore.store import MemoryStore
from tests.unit.samplelog.conftest import bucket_in_memory

from headgate.errors import PermanentError
from headgate.model.identity import JobKey
from headgate.model.tables import TABLES
from headgate.samplelog import files, parquet
from headgate.samplelog.bucket import ObjectPath
from headgate.samplelog.compaction import compact
from headgate.samplelog.files import Address
from headgate.samplelog.layout import Hour, Layout, epoch_ms
from headgate.samplelog.manifest import Manifest, Snapshot
from headgate.samplelog.reader import LogReader
from headgate.samplelog.retention import expire
from headgate.samplelog.writer import SampleLog
from headgate.testing.builders import ORDERS, START, at, chain, sample

TOPOLOGY = chain({"source": 2, "sink": 1})
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
SAMPLES_HOUR = "samples/hour=2026-01-01T00"


def log_with(root: Address, *seconds: int) -> SampleLog:
    """Write a log with a tick at each of these seconds into the story."""
    log = SampleLog(root)
    for second in seconds:
        log.append([sample(TOPOLOGY, tick=at(second))])
    return log


def rows_of(root: Address) -> list[dict[str, object]]:
    """Read all samples, in order."""
    table = LogReader(root).read("samples", START, START + 10 * HOUR)
    rows: list[dict[str, object]] = table.sort_by([("at_ms", "ascending"), ("vertex", "ascending")]).to_pylist()
    return rows


def compacted_by_the_first_versions(root: Address) -> Hour:
    """Put the first hour's samples together as they did: their only manifest had no number."""
    hour = Layout(root).hour("samples", START)
    ticks = Snapshot.take(hour).ticks
    parquet.concatenate(hour.folder / "generation-000003.parquet", TABLES["samples"], ticks)
    told = {"version": 1, "generation": 3, "absorbed": [path.name for path in ticks], "switched_ms": 0}
    files.create_text(hour.folder / "manifest.json", json.dumps(told))
    return hour


def tidy(root: Address, minutes: float) -> int:
    """Compact as of so many minutes into the story, hours closed for ten minutes, with a grace of five."""
    return compact(root, START + minutes * MINUTE, closed_for=10 * MINUTE, grace=5 * MINUTE)


def test_compaction_changes_no_row(root: Address) -> None:
    """What a window holds is the same before and after, and from one file instead of many."""
    log_with(root, 0, 10, 20, 3600)
    before = rows_of(root)
    assert tidy(root, 70) > 0
    assert rows_of(root) == before
    (compacted,) = LogReader(root).files("samples", START, at(20))
    assert compacted.name.startswith("generation-000001-")


def test_an_open_hour_is_left_alone(root: Address) -> None:
    """An hour counts as closed only some time after its end."""
    log_with(root, 0, 3600)
    assert tidy(root, 69) == 0


def test_nothing_to_do_is_nothing_done(root: Address) -> None:
    """A second run makes no second generation."""
    log_with(root, 0)
    tidy(root, 70)
    assert tidy(root, 71) == 0
    assert tidy(root, 200) == 0


def test_replaced_files_stay_for_the_grace_period(root: Address) -> None:
    """A reader that listed them before the switch can still read them; later they are gone."""
    log_with(root, 0, 10)
    listed = LogReader(root).files("samples", START, at(10))
    tidy(root, 70)
    tidy(root, 74)
    assert all(files.exists(path) for path in listed)
    tidy(root, 76)
    assert not any(files.exists(path) for path in listed)
    assert len(rows_of(root)) == 4


def test_a_tick_that_comes_late_is_read_and_added(root: Address) -> None:
    """A writer that was frozen for an hour loses nothing."""
    log = log_with(root, 0)
    tidy(root, 70)
    log.append([sample(TOPOLOGY, tick=at(10))])
    assert len(rows_of(root)) == 4
    assert tidy(root, 80) > 0
    tidy(root, 90)
    assert len(rows_of(root)) == 4
    generation, manifest = files.names(root / SAMPLES_HOUR)
    assert generation.startswith("generation-000002-")
    assert manifest == "manifest-000002.json"


def test_a_tick_written_again_after_its_compaction_is_not_doubled(root: Address) -> None:
    """Its rows are in the generation already."""
    log_with(root, 0)
    tidy(root, 70)
    tidy(root, 80)
    log_with(root, 0)
    assert len(rows_of(root)) == 2


def test_a_compaction_killed_before_the_switch_is_repeated(root: Address) -> None:
    """A generation that no manifest names does not exist for a reader, and the next run writes it anew."""
    log_with(root, 0, 10)
    orphan = root / SAMPLES_HOUR / "generation-000001-0badcafe.parquet"
    files.create_text(orphan, "cut short")
    assert len(rows_of(root)) == 4
    tidy(root, 70)
    tidy(root, 80)
    assert len(rows_of(root)) == 4
    assert not files.exists(orphan)


def test_what_a_killed_compaction_left_does_not_pass_for_a_compaction(root: Address) -> None:
    """An hour of one tick, with a generation that no manifest names, is put together all the same."""
    log_with(root, 0)
    files.create_text(root / SAMPLES_HOUR / "generation-000001-0badcafe.parquet", "cut short")
    assert tidy(root, 70) > 0
    tidy(root, 80)
    assert len(files.names(root / SAMPLES_HOUR)) == 2
    assert len(rows_of(root)) == 2


def test_of_two_that_compact_an_hour_at_once_one_counts(root: Address) -> None:
    """A lock may be lost: whoever is late finds the manifest made, and no row is lost or doubled, then or later."""
    log_with(root, 0, 10)
    hour = Layout(root).hour("samples", START)
    late = Snapshot.take(hour)
    log_with(root, 20)
    assert tidy(root, 70) > 0
    assert not Manifest(generation=1, compacted=late.next_generation(), absorbed=frozenset(late.listed)).save(hour)
    tidy(root, 80)
    assert len(rows_of(root)) == 6


def test_an_hour_that_the_first_versions_compacted_is_read_and_kept_up(root: Address) -> None:
    """Their only manifest had no number, and was replaced."""
    log_with(root, 0, 10)
    hour = compacted_by_the_first_versions(root)
    assert len(rows_of(root)) == 4
    tidy(root, 70)
    assert files.names(hour.folder) == ["generation-000003.parquet", "manifest.json"]
    log_with(root, 20)
    tidy(root, 80)
    tidy(root, 90)
    assert len(rows_of(root)) == 6
    assert len(files.names(hour.folder)) == 2


def test_only_one_process_compacts(root: Address) -> None:
    """Whoever comes second leaves it to the first."""
    log_with(root, 0)
    with files.held(Layout(root).upkeep_lock) as alone:
        assert alone
        assert tidy(root, 70) == 0
        assert expire(root, START + 5 * HOUR) == 0
    assert tidy(root, 70) > 0


def test_a_reader_that_listed_before_the_files_went_lists_again(root: Address) -> None:
    """Even past the grace period, slow reading ends in the right rows."""
    log_with(root, 0)
    snapshot = Snapshot.take(Layout(root).hour("samples", START))
    tidy(root, 70)
    tidy(root, 80)
    assert not files.exists(snapshot.ticks[0])
    assert len(rows_of(root)) == 2


def test_a_manifest_of_a_newer_version_is_refused(root: Address) -> None:
    """An hour one does not understand is not read as empty."""
    log_with(root, 0)
    manifest = root / SAMPLES_HOUR / "manifest-000001.json"
    files.create_text(manifest, '{"version": 2}')
    with pytest.raises(PermanentError, match="version 2"):
        rows_of(root)


def test_answers_for_people_come_from_compacted_hours_too(root: Address) -> None:
    """The latest topology is found wherever it stands."""
    log_with(root, 0, 10)
    tidy(root, 70)
    tidy(root, 80)
    assert LogReader(root).latest_topology(ORDERS) == TOPOLOGY
    assert LogReader(root).latest_topology(JobKey("prod", "unknown")) is None


def test_hours_past_retention_are_dropped_whole(root: Address) -> None:
    """An hour goes when all of it is too old, in every table."""
    log_with(root, 0, 3600, 7200)
    tidy(root, 70)
    assert expire(root, START + 1.5 * HOUR) == 3
    assert [hour.begin for hour in Layout(root).hours("samples")] == [START + HOUR, START + 2 * HOUR]
    assert len(rows_of(root)) == 4


def test_an_expiry_that_was_killed_is_finished(root: Address) -> None:
    """An hour that was given up is empty at once for every reader, whatever is left of it; the next run removes it."""
    log_with(root, 0, 10)
    tidy(root, 70)
    log_with(root, 20)
    assert Snapshot.take(Layout(root).hour("samples", START)).replaced_by("", START)
    assert rows_of(root) == []
    files.remove(root / SAMPLES_HOUR / name for name in files.names(root / SAMPLES_HOUR)[:2])
    assert rows_of(root) == []
    assert expire(root, START + HOUR) == 3
    assert files.names(root / "samples") == []


class KilledError(BaseException):
    """The end of the process: nothing catches it."""


class Bucket(MemoryStore):
    """A bucket at which a process is killed or frozen."""

    kills = 0
    """After how many objects whoever removes them dies; 0: never."""
    torn = ""
    """The folder whose next listing took so long that nothing in it was there from its begin to its end."""

    def delete(self, paths: str | Sequence[str]) -> None:
        """Remove objects, or die over it."""
        if self.kills:
            super().delete(list(paths)[: self.kills])
            raise KilledError
        super().delete(paths)

    def list_with_delimiter(self, prefix: str | None = None, **how: Any) -> Any:
        """List a folder, or what little of it a slow listing has met."""
        found = super().list_with_delimiter(prefix, **how)
        if prefix != self.torn:
            return found
        self.torn = ""
        return {"common_prefixes": [], "objects": []}


def test_an_hour_vanishes_at_once_for_every_reader() -> None:
    """Though its files are removed one by one, and whoever does it may be killed in between."""
    bucket = Bucket()
    root = ObjectPath("memory://log", bucket)
    log_with(root, 0, 10, 3600)
    bucket.kills = 1
    with pytest.raises(KilledError):
        expire(root, START + HOUR)
    assert [row["at_ms"] for row in rows_of(root)] == [epoch_ms(START + HOUR)] * 2


@pytest.mark.parametrize("kills", range(1, 5))
def test_an_expiry_that_was_killed_does_not_bring_back_what_the_first_versions_compacted(kills: int) -> None:
    """Their manifest, which comes last by name, must not be the one that is left: it names a file that is gone."""
    bucket = Bucket()
    root = ObjectPath("memory://log", bucket)
    log_with(root, 0, 10, 3600)
    compacted_by_the_first_versions(root)
    bucket.kills = kills
    with pytest.raises(KilledError):
        expire(root, START + HOUR)
    assert [row["at_ms"] for row in rows_of(root)] == [epoch_ms(START + HOUR)] * 2
    bucket.kills = 0
    expire(root, START + HOUR)
    assert files.names(root / SAMPLES_HOUR) == []


def test_a_listing_during_which_an_hour_was_compacted_does_not_count() -> None:
    """A reader that was frozen over it has met neither what was there before nor what came after, and lists again."""
    bucket = Bucket()
    root = ObjectPath("memory://log", bucket)
    log_with(root, 0, 10)
    tidy(root, 70)
    tidy(root, 80)
    bucket.torn = SAMPLES_HOUR
    assert len(rows_of(root)) == 4
    assert bucket.torn == ""


def test_a_stray_file_hides_nothing(tmp_path: Path) -> None:
    """Whoever put it beside the hours."""
    log_with(tmp_path, 0)
    (tmp_path / "samples" / "notes.txt").touch()
    assert tidy(tmp_path, 70) > 0
    assert len(rows_of(tmp_path)) == 2


def test_a_lock_in_a_bucket_is_lost_with_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody gives it back for a process that was killed."""
    lock = Layout(bucket_in_memory()).upkeep_lock
    assert files.create_text(lock, "")
    with files.held(lock) as alone:
        assert not alone
    monkeypatch.setattr("headgate.samplelog.bucket._FORSAKEN", timedelta())
    with files.held(lock) as alone:
        assert alone
    assert not files.exists(lock)


def test_where_a_log_can_stand_is_tried_without_a_trace(root: Address) -> None:
    """The doctor asks before a service does."""
    assert files.tried(root / "new") is None
    assert not files.names(root / "new")
    assert not files.hidden(root / "new")
