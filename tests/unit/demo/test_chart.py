"""Charts out of block characters."""

from __future__ import annotations

import pytest

from headgate.demo.chart import bars, round_up


def test_a_bar_is_as_high_as_its_share() -> None:
    """Two lines hold sixteen steps: the half fills the lower line, the whole both."""
    assert bars([0, 4, 8, 6], height=2, top=8) == ["  █▄", " ███"]


def test_the_smallest_value_can_be_seen_and_the_largest_does_not_leave_the_chart() -> None:
    """One waiting record is not none, and a chart has no room above its top."""
    assert bars([0.001, 100], height=1, top=8) == ["▁█"]


def test_a_mark_is_drawn_above_a_bar_and_inside_it() -> None:
    """Needed four, running two, and the other way round."""
    assert bars([2, 4], height=4, top=4, marks=[4, 2]) == ["─█", " █", "█━", "██"]


def test_nothing_is_marked_at_zero_or_behind_the_last_bar() -> None:
    """Marks do not make a chart longer than its values."""
    assert bars([1], height=1, top=1, marks=[0, 1]) == ["█"]


@pytest.mark.parametrize(("value", "expected"), [(0, 1), (1, 1), (3, 5), (700, 1000), (1000, 1000), (1001, 2000)])
def test_an_axis_ends_at_a_round_number(value: float, expected: float) -> None:
    """So that people can read it."""
    assert round_up(value) == expected
