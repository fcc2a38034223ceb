"""The file of measured rescales."""

from __future__ import annotations

from pathlib import Path

import pytest

from headgate.errors import ConfigError
from headgate.rescales.rows import COLUMNS, Row
from headgate.rescales.runs_file import RunsFile


def written(path: Path, rows: list[Row]) -> RunsFile:
    """Write rows as a series would."""
    file = RunsFile(path)
    file.note("measured on: 2 cores")
    for row in rows:
        file.append(row)
    return file


def test_what_was_measured_is_read_again(tmp_path: Path, series_rows: list[Row]) -> None:
    """To the millisecond, whatever was noted between the rows."""
    file = written(tmp_path / "new" / "runs.csv", series_rows[:3])
    file.note("measured on: 4 cores")
    file.append(series_rows[3])
    read = file.rows()
    assert [row.texts() for row in read] == [row.texts() for row in series_rows[:4]]
    assert read[1].cell == series_rows[1].cell


def test_the_file_says_what_its_columns_are(tmp_path: Path, series_rows: list[Row]) -> None:
    """In comments before the one line with their names."""
    text = written(tmp_path / "runs.csv", series_rows[:2]).path.read_text(encoding="utf-8")
    assert all(f"# {name}: " in text for name in COLUMNS)
    assert text.count(",".join(COLUMNS)) == 1


def test_a_torn_line_is_no_row_and_is_written_over(tmp_path: Path, series_rows: list[Row]) -> None:
    """Whoever was killed while writing loses that one rescale, and none of the others."""
    file = written(tmp_path / "runs.csv", series_rows[:3])
    whole = file.path.read_bytes()
    file.path.write_bytes(whole[:-20])
    assert [row.run for row in file.rows()] == [0, 1]
    file.append(series_rows[2])
    assert file.path.read_bytes() == whole


def test_a_torn_header_is_written_anew(tmp_path: Path, series_rows: list[Row]) -> None:
    """Even the very first line may be the one that was not finished."""
    path = tmp_path / "runs.csv"
    path.write_text("# Rescales measu", encoding="utf-8")
    RunsFile(path).append(series_rows[0])
    assert [row.run for row in RunsFile(path).rows()] == [0]


def test_without_a_file_nothing_was_measured(tmp_path: Path) -> None:
    """And reading does not make one."""
    file = RunsFile(tmp_path / "runs.csv")
    assert file.rows() == ()
    assert not file.path.exists()


def test_what_is_no_rescale_is_named(tmp_path: Path, series_rows: list[Row]) -> None:
    """With the file, so that it can be put right."""
    file = written(tmp_path / "runs.csv", series_rows[:1])
    file.path.write_text(file.path.read_text(encoding="utf-8").replace("in-place", "sideways"), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"runs\.csv.*sideways"):
        file.rows()
