"""Charts out of block characters: series of numbers as lines of text. Pure, and knows no colour."""

from __future__ import annotations

import math
from collections.abc import Sequence

MARK = "─"
"""What a marked height looks like above a bar."""

MARK_INSIDE = "━"
"""What it looks like in one, to be told from it by the background's colour."""

_EIGHTHS = " ▁▂▃▄▅▆▇█"


def bars(values: Sequence[float], *, height: int, top: float, marks: Sequence[float] = ()) -> list[str]:
    """
    Return the lines of a bar chart, the highest first, one column a value.

    Args:
        values: not negative; more than `top` is drawn as `top`, and anything above 0 can be seen.
        height: in lines.
        top: what fills the height.
        marks: heights to mark, one a column; 0 marks nothing.
    """
    filled = [_eighths(value, height, top) for value in values]
    marked = [(_eighths(mark, height, top) - 1) // 8 for mark in marks]
    return [_line(filled, marked, row) for row in reversed(range(height))]


def round_up(value: float) -> float:
    """Return the next of 1, 2, 5, 10, 20, 50 and so on, so that an axis ends at a round number."""
    if value <= 1:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 5, 10) if value <= step * power)


def _line(filled: Sequence[int], marked: Sequence[int], row: int) -> str:
    cells = [_EIGHTHS[min(8, max(0, eighths - 8 * row))] for eighths in filled]
    for column, mark in enumerate(marked[: len(cells)]):
        if mark == row:
            cells[column] = MARK if filled[column] <= 8 * row else MARK_INSIDE
    return "".join(cells)


def _eighths(value: float, height: int, top: float) -> int:
    if value <= 0 or top <= 0:
        return 0
    return max(1, round(min(1.0, value / top) * height * 8))
