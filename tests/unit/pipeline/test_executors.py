"""How tasks are divided among the cores of a Spark cluster."""

from __future__ import annotations

import pytest

from headgate.pipeline.executors import divide


def test_parts_are_of_like_size() -> None:
    """The largest first, each to the part that has least: 9 for one, 4, 3 and 2 for the other, and 1 is left."""
    assert divide([1, 9, 2, 3, 4], 2) == [[4, 3, 2], [1, 0]]


@pytest.mark.parametrize(("sizes", "parts"), [([5], 8), ([1, 1, 1], 2), ([3, 1, 4, 1, 5, 9, 2, 6], 3)])
def test_each_task_is_in_one_part(sizes: list[int], parts: int) -> None:
    """No part is empty, and there are no more than asked for."""
    divided = divide(sizes, parts)
    assert sorted(place for part in divided for place in part) == list(range(len(sizes)))
    assert len(divided) <= parts
    assert all(divided)
