"""The plots of a series."""

from __future__ import annotations

from pathlib import Path

from headgate.rescales.plots import draw_plots, median_points
from headgate.rescales.rows import Row


def test_each_plot_is_a_file_that_is_the_same_again(tmp_path: Path, series_rows: list[Row]) -> None:
    """No date, no random name: it changes in the repository only when the runs do."""
    first = draw_plots(series_rows, tmp_path / "one")
    again = draw_plots(series_rows, tmp_path / "two")
    assert [path.name for path in first] == [
        "rescale-downtime.svg",
        "rescale-phases.svg",
        "rescale-savepoint.svg",
        "rescale-loading.svg",
    ]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]
    assert all("<svg" in path.read_text(encoding="utf-8") for path in first)


def test_what_is_drawn_are_the_medians(series_rows: list[Row]) -> None:
    """At each place across, in order."""
    rows = [row for row in series_rows if row.cell.state_mb == 500]
    points = median_points(rows, lambda row: row.cell.move.after, lambda row: row.phases.loading_s)
    assert [(at, interval.middle) for at, interval in points] == [(1, 1.0), (2, 0.5), (8, 0.125)]
