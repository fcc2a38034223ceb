"""A series that is taken up again."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headgate.cli import app
from headgate.errors import ConfigError
from headgate.rescales.measure import Order, done_runs
from headgate.rescales.plan import plan_text
from headgate.rescales.rows import Row
from headgate.rescales.runs_file import RunsFile
from headgate.rescales.series import draw_series

ORDER = Order(seed=7, blocks=draw_series(7), budget=timedelta(minutes=30))


@pytest.fixture
def measured(series_rows: list[Row]) -> list[Row]:
    """Return the first five runs of the series, as they are in the file."""
    block = ORDER.blocks[0]
    return [replace(row, cell=block.cell(row.run)) for row in series_rows[:5]]


def test_what_the_file_has_is_not_measured_again(measured: list[Row]) -> None:
    """Rows of another seed are kept, and are another series."""
    foreign = [replace(row, seed=8, run=row.run + 100) for row in measured]
    assert done_runs([*measured, *foreign], ORDER) == {0, 1, 2, 3, 4}


def test_a_file_of_another_series_is_refused(measured: list[Row]) -> None:
    """The same seed and number, but another rescale: the series was drawn differently then."""
    other = replace(measured[0], cell=replace(measured[0].cell, state_mb=3))
    with pytest.raises(ConfigError, match="run 0 of seed 7"):
        done_runs([other], ORDER)


def test_the_plan_counts_what_is_left_and_what_the_budget_holds() -> None:
    """Round by round, the corners first."""
    lines = plan_text(ORDER, frozenset(range(5))).splitlines()
    assert lines[1].lstrip().startswith("corners 1")
    assert "27 of 32 left" in lines[1]
    assert "beyond" not in lines[1]
    assert "beyond" in lines[-1]


def test_the_command_plans_without_measuring(tmp_path: Path, measured: list[Row]) -> None:
    """It starts nothing, and reads what the file has."""
    file = RunsFile(tmp_path / "runs.csv")
    file.append(measured[0])
    result = CliRunner().invoke(app, ["measure-rescale", "--plan", "--seed", "7", "--runs", str(file.path)])
    assert result.exit_code == 0, result.output
    assert "31 of 32 left" in result.output


def test_the_command_reports_and_draws(tmp_path: Path, series_rows: list[Row]) -> None:
    """The table of the file, and the plots where they are wanted."""
    file = RunsFile(tmp_path / "runs.csv")
    for row in series_rows[::2]:
        file.append(row)
    plots = tmp_path / "plots"
    words = ["measure-rescale", "--report", "--runs", str(file.path), "--plots", str(plots)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert "| redeploy | rocksdb | 500 |" in result.output
    assert len([path for path in plots.iterdir() if "<svg" in path.read_text(encoding="utf-8")]) == 4
