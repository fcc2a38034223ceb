"""Closed hours are put together and old ones dropped, and no reader notices."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from headgate.errors import PermanentError
from headgate.model.identity import JobKey
from headgate.samplelog import files
from headgate.samplelog.compaction import compact
from headgate.samplelog.layout import Layout
from headgate.samplelog.manifest import Snapshot
from headgate.samplelog.reader import LogReader
from headgate.samplelog.retention import expire
from headgate.samplelog.writer import SampleLog
from headgate.testing.builders import ORDERS, START, at, chain, sample

TOPOLOGY = chain({"source": 2, "sink": 1})
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
SAMPLES_HOUR = Path("samples/hour=2026-01-01T00")


def log_with(root: Path, *seconds: int) -> SampleLog:
    """Write a log with a tick at each of these seconds into the story."""
    log = SampleLog(root)
    for second in seconds:
        log.append([sample(TOPOLOGY, tick=at(second))])
    return log


def rows_of(root: Path) -> list[dict[str, object]]:
    """Read all samples, in order."""
    table = LogReader(root).read("samples", START, START + 10 * HOUR)
    rows: list[dict[str, object]] = table.sort_by([("at_ms", "ascending"), ("vertex", "ascending")]).to_pylist()
    return rows


def tidy(root: Path, minutes: float) -> int:
    """Compact as of so many minutes into the story, hours closed for ten minutes, with a grace of five."""
    return compact(root, START + minutes * MINUTE, closed_for=10 * MINUTE, grace=5 * MINUTE)


def test_compaction_changes_no_row(tmp_path: Path) -> None:
    """What a window holds is the same before and after, and from one file instead of many."""
    log_with(tmp_path, 0, 10, 20, 3600)
    before = rows_of(tmp_path)
    assert tidy(tmp_path, 70) > 0
    assert rows_of(tmp_path) == before
    assert [path.name for path in LogReader(tmp_path).files("samples", START, at(20))] == ["generation-000001.parquet"]


def test_an_open_hour_is_left_alone(tmp_path: Path) -> None:
    """An hour counts as closed only some time after its end."""
    log_with(tmp_path, 0, 3600)
    assert tidy(tmp_path, 69) == 0


def test_nothing_to_do_is_nothing_done(tmp_path: Path) -> None:
    """A second run makes no second generation."""
    log_with(tmp_path, 0)
    tidy(tmp_path, 70)
    assert tidy(tmp_path, 71) == 0
    assert tidy(tmp_path, 200) == 0


def test_replaced_files_stay_for_the_grace_period(tmp_path: Path) -> None:
    """A reader that listed them before the switch can still read them; later they are gone."""
    log_with(tmp_path, 0, 10)
    listed = LogReader(tmp_path).files("samples", START, at(10))
    tidy(tmp_path, 70)
    tidy(tmp_path, 74)
    assert all(path.exists() for path in listed)
    tidy(tmp_path, 75)
    assert not any(path.exists() for path in listed)
    assert len(rows_of(tmp_path)) == 4


def test_a_tick_that_comes_late_is_read_and_added(tmp_path: Path) -> None:
    """A writer that was frozen for an hour loses nothing."""
    log = log_with(tmp_path, 0)
    tidy(tmp_path, 70)
    log.append([sample(TOPOLOGY, tick=at(10))])
    assert len(rows_of(tmp_path)) == 4
    assert tidy(tmp_path, 80) > 0
    tidy(tmp_path, 90)
    assert len(rows_of(tmp_path)) == 4
    assert files.names(tmp_path / SAMPLES_HOUR) == ["generation-000002.parquet", "manifest.json"]


def test_a_tick_written_again_after_its_compaction_is_not_doubled(tmp_path: Path) -> None:
    """Its rows are in the generation already."""
    log_with(tmp_path, 0)
    tidy(tmp_path, 70)
    tidy(tmp_path, 80)
    log_with(tmp_path, 0)
    assert len(rows_of(tmp_path)) == 2


def test_a_compaction_killed_before_the_switch_is_repeated(tmp_path: Path) -> None:
    """A generation that no manifest names does not exist for a reader, and the next run writes it anew."""
    log_with(tmp_path, 0, 10)
    orphan = Layout(tmp_path).hour("samples", START).generation(1)
    orphan.write_bytes(b"cut short")
    assert len(rows_of(tmp_path)) == 4
    tidy(tmp_path, 70)
    assert len(rows_of(tmp_path)) == 4


def test_only_one_process_compacts(tmp_path: Path) -> None:
    """Whoever comes second leaves it to the first."""
    log_with(tmp_path, 0)
    with files.held(Layout(tmp_path).upkeep_lock) as alone:
        assert alone
        assert tidy(tmp_path, 70) == 0
        assert expire(tmp_path, START + 5 * HOUR) == 0
    assert tidy(tmp_path, 70) > 0


def test_a_reader_that_listed_before_the_files_went_lists_again(tmp_path: Path) -> None:
    """Even past the grace period, slow reading ends in the right rows."""
    log_with(tmp_path, 0)
    snapshot = Snapshot.take(Layout(tmp_path).hour("samples", START))
    tidy(tmp_path, 70)
    tidy(tmp_path, 80)
    assert not snapshot.ticks[0].exists()
    assert len(rows_of(tmp_path)) == 2


def test_a_manifest_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    """An hour one does not understand is not read as empty."""
    log_with(tmp_path, 0)
    manifest = Layout(tmp_path).hour("samples", START).manifest
    manifest.write_text('{"version": 2}')
    with pytest.raises(PermanentError, match="version 2"):
        rows_of(tmp_path)


def test_answers_for_people_come_from_compacted_hours_too(tmp_path: Path) -> None:
    """The latest topology is found wherever it stands."""
    log_with(tmp_path, 0, 10)
    tidy(tmp_path, 70)
    tidy(tmp_path, 80)
    assert LogReader(tmp_path).latest_topology(ORDERS) == TOPOLOGY
    assert LogReader(tmp_path).latest_topology(JobKey("prod", "unknown")) is None


def test_hours_past_retention_are_dropped_whole(tmp_path: Path) -> None:
    """An hour goes when all of it is too old, in every table."""
    log_with(tmp_path, 0, 3600, 7200)
    tidy(tmp_path, 70)
    assert expire(tmp_path, START + 1.5 * HOUR) == 3
    assert [hour.begin for hour in Layout(tmp_path).hours("samples")] == [START + HOUR, START + 2 * HOUR]
    assert len(rows_of(tmp_path)) == 4


def test_an_expiry_that_was_killed_is_finished(tmp_path: Path) -> None:
    """A folder that was condemned is invisible at once and removed by the next run."""
    log_with(tmp_path, 0)
    folder = tmp_path / SAMPLES_HOUR
    folder.rename(folder.with_name(f".{folder.name}"))
    assert rows_of(tmp_path) == []
    expire(tmp_path, START)
    assert not files.hidden(tmp_path / "samples")
