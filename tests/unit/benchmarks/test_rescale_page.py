"""The page on what a rescale costs, and the prior of the downtime model: both are what the committed runs give."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.rescale_page import PAGE, PRIOR, RUNS, fit_prior, rendered

from headgate.pipeline.downtime_prior import prior_text
from headgate.rescales.plots import draw_plots
from headgate.rescales.rows import Row
from headgate.rescales.runs_file import RunsFile


@pytest.fixture(scope="module")
def rows() -> tuple[Row, ...]:
    """Return the committed runs."""
    return RunsFile(RUNS).rows()


def test_the_page_says_what_the_runs_say(rows: tuple[Row, ...]) -> None:
    """Every table of it. Else: `python -m benchmarks.rescale_page`."""
    page = PAGE.read_text(encoding="utf-8")
    assert rendered(page, rows) == page


def test_the_prior_is_what_the_model_learns_from_the_runs(rows: tuple[Row, ...]) -> None:
    """Else: `python -m benchmarks.rescale_page`."""
    assert PRIOR.read_text(encoding="utf-8") == prior_text(fit_prior(rows))


def test_the_plots_of_the_page_can_be_drawn_from_the_runs(rows: tuple[Row, ...], tmp_path: Path) -> None:
    """All that the page shows, and no other ones."""
    drawn = {path.name for path in draw_plots(rows, tmp_path)}
    assert drawn == {path.name for path in (PAGE.parent / "images").glob("rescale-*.svg")}
    assert all(f"images/{name}" in PAGE.read_text(encoding="utf-8") for name in drawn)
