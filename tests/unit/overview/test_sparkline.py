"""Numbers in one line of blocks."""

from __future__ import annotations

from headgate.overview.sparkline import extremes, sparkline
from headgate.testing.builders import at


def test_a_column_shows_the_largest_value_of_its_time() -> None:
    """A peak of one instant is not lost between two columns; where nothing was measured nothing is drawn."""
    series = [(at(0), 1.0), (at(5), 8.0), (at(12), 4.0), (at(13), None), (at(40), 2.0)]
    assert sparkline(series, at(0), at(40), columns=4) == "█▄ ▂"


def test_of_nothing_there_is_no_line() -> None:
    """Nor of values that are all unknown; zeros are a line without blocks."""
    assert sparkline([], at(0), at(40), columns=4) == ""
    assert sparkline([(at(0), None)], at(0), at(40), columns=4) == ""
    assert sparkline([(at(0), 0.0)], at(0), at(40), columns=4) == "    "
    assert (extremes([]), extremes([(at(0), 3.0), (at(1), None), (at(2), 1.0)])) == ((0.0, 0.0), (1.0, 3.0))
