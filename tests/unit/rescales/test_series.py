"""The order of a series of rescales."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from headgate.rescales.cells import Block, Cell
from headgate.rescales.series import CORNER_ROUNDS, Factors, draw_series


@pytest.fixture
def series() -> tuple[Block, ...]:
    """Return the series of a seed."""
    return draw_series(7)


def cells_of(blocks: tuple[Block, ...]) -> list[Cell]:
    """Return every rescale of the blocks, in order."""
    return [block.cell(block.first_run + number) for block in blocks for number in range(len(block.moves))]


def corners_of(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """Return the blocks of the corner cells."""
    return tuple(block for block in blocks if block.round.startswith("corners"))


def test_every_corner_comes_equally_often(series: tuple[Block, ...]) -> None:
    """Least and most state, smallest and largest change, both ways, both kinds, both backends: 32 cells, 5 times."""
    corners = corners_of(series)
    counts = Counter(cells_of(corners))
    assert len(counts) == 2 * 4 * 2 * 2
    assert set(counts.values()) == {CORNER_ROUNDS}


def test_what_differs_most_comes_first(series: tuple[Block, ...]) -> None:
    """A series that ends early has repeated the corners, and has something of what is between them."""
    rounds = list(dict.fromkeys(block.round for block in series))
    assert rounds[:5] == ["corners 1", "corners 2", "states between 1", "corners 3", "corners 4"]
    assert rounds.index("corners 5") < rounds.index("steps between 1")


def test_each_round_has_every_cell_once(series: tuple[Block, ...]) -> None:
    """So that a series that ends early is balanced but for the round that it is in."""
    for name in {block.round for block in series}:
        cells = cells_of(tuple(block for block in series if block.round == name))
        assert len(cells) == len(set(cells))


def test_all_of_the_factors_are_reached(series: tuple[Block, ...]) -> None:
    """Also the states and the steps of parallelism between the corners."""
    cells = cells_of(series)
    assert {cell.state_mb for cell in cells} == {0, 10, 100, 500}
    assert {(cell.move.before, cell.move.after) for cell in cells} >= {(2, 4), (4, 2), (4, 8), (8, 4)}


def test_every_rescale_begins_where_the_one_before_it_ended(series: tuple[Block, ...]) -> None:
    """One job makes a block's rescales, one after the other."""
    for block in series:
        assert all(earlier.after == later.before for earlier, later in pairwise(block.moves))


def test_runs_are_numbered_through(series: tuple[Block, ...]) -> None:
    """By its number a run is found again in the file."""
    ends = [block.first_run + len(block.moves) for block in series]
    assert [block.first_run for block in series] == [0, *ends[:-1]]


def test_the_seed_decides_the_order() -> None:
    """The same seed is the same series; another one has the same cells in another order."""
    assert draw_series(7) == draw_series(7)
    other = draw_series(8)
    assert other != draw_series(7)
    assert Counter(cells_of(other)) == Counter(cells_of(draw_series(7)))


def test_no_round_repeats_the_order_of_another(series: tuple[Block, ...]) -> None:
    """Else what one cell leaves behind would always meet the same other cell."""
    corners = corners_of(series)
    orders = {tuple((block.state_mb, block.backend, block.moves) for block in corners[at : at + 4]) for at in (0, 4, 8)}
    assert len(orders) == 3


def test_a_smaller_choice_is_a_series_too() -> None:
    """Two states and two parallelisms: nothing lies between the corners."""
    series = draw_series(7, Factors(states_mb=(0, 10), parallelisms=(1, 2)))
    assert {block.round for block in series} == {f"corners {number}" for number in range(1, CORNER_ROUNDS + 1)}
    assert Counter(cells_of(series)).most_common(1)[0][1] == CORNER_ROUNDS
