"""What the plots of a series show."""

from __future__ import annotations

from headgate.rescales.plots import median_points
from headgate.rescales.rows import Row


def test_what_is_drawn_are_the_medians(series_rows: list[Row]) -> None:
    """At each place across, in order."""
    rows = [row for row in series_rows if row.cell.state_mb == 500]
    points = median_points(rows, lambda row: row.cell.move.after, lambda row: row.phases.loading_s)
    assert [(at, interval.middle) for at, interval in points] == [(1, 1.0), (2, 0.5), (8, 0.125)]
