"""What a size has cost by now, beside the size that it should have."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headgate.algorithm.staying import Sizes, cost_so_far
from headgate.model.arrival import Arrival

SMALL = Sizes(capacity=100.0, wanted=600.0, target=400.0)
LARGE = Sizes(capacity=600.0, wanted=200.0, target=100.0)


def changed(*means: tuple[float, float], per_s: float = 400.0, lasted_s: float = 10.0) -> Arrival:
    """Give an input that changed some seconds ago."""
    return Arrival(per_s=per_s, error=0.01, lasted_s=lasted_s, changed=True, means=means)


def test_what_falls_behind_counts_twice() -> None:
    """Of 400/s 300 pile up in each second, and so does what is not caught up in time."""
    behind = replace(SMALL, catch_up=50.0)

    assert cost_so_far(SMALL, changed(), running_s=1000) == pytest.approx(10 * 2 * 300 / 400)
    assert cost_so_far(behind, changed(), running_s=1000) == pytest.approx(10 * 2 * 350 / 400)


def test_a_reserve_that_is_too_small_costs_nothing_yet() -> None:
    """A vertex that reads all that comes, at nine tenths of what it can do, loses nothing."""
    tight = Sizes(capacity=100.0, wanted=130.0, target=90.0)

    assert cost_so_far(tight, changed(per_s=90.0), running_s=1000) == 0


def test_what_is_idle_counts_two_fifths() -> None:
    """Two thirds of the vertex."""
    assert cost_so_far(LARGE, changed(per_s=100.0), running_s=1000) == pytest.approx(10 * 2 / 3 * 0.4)


def test_a_load_that_changes_again_while_the_size_stays_too_small_adds_up() -> None:
    """It climbed for a minute: what the last ten seconds cost is not all."""
    level, climbing = changed(), changed((10.0, 400.0), (60.0, 280.0))

    assert cost_so_far(SMALL, climbing, running_s=1000) > 3 * cost_so_far(SMALL, level, running_s=1000)


def test_a_time_when_the_size_was_right_takes_nothing_away() -> None:
    """An hour ago all was well: staying costs what it has since the worst of instants to look back to."""
    assert cost_so_far(SMALL, changed((3600.0, 20.0)), running_s=10_000) == cost_so_far(SMALL, changed(), running_s=999)


def test_a_burst_in_between_does_not_make_a_size_less_idle_for_good() -> None:
    """Since the burst ten seconds have passed, but over ten minutes half of the vertex would have done."""
    lately = changed(per_s=100.0)
    over_all = changed((600.0, 150.0), per_s=100.0)

    assert cost_so_far(LARGE, over_all, running_s=1000) == pytest.approx(600 * (600 - 300) / 600 * 0.4)
    assert cost_so_far(LARGE, over_all, running_s=1000) > cost_so_far(LARGE, lately, running_s=1000)


def test_what_the_size_before_it_has_cost_does_not_count() -> None:
    """This one runs for five seconds."""
    assert cost_so_far(SMALL, changed((60.0, 400.0)), running_s=5) == pytest.approx(5 * 2 * 300 / 400)


@pytest.mark.parametrize("lasted_s", [1, 600])
def test_a_backlog_without_any_input_is_weighed_by_what_the_vertex_can_do(lasted_s: float) -> None:
    """There is no input whose seconds could be counted."""
    sizes = Sizes(capacity=100.0, wanted=400.0, target=0.0, catch_up=250.0)

    known = changed(per_s=0.0, lasted_s=lasted_s)

    assert cost_so_far(sizes, known, running_s=1000) == pytest.approx(2 * 150 / 100 * lasted_s)
