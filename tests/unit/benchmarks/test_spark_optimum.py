"""The sizes that follow from what a batch costs, and the optimum that knows the load."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks.spark_optimum import BatchCost, optimal_cores

COST = BatchCost(base_s=0.4, waves_s=0.36, row_s=0.004, partitions=12, interval_s=2.0, most_cores=12)


def duration_s(cores: int, rows: float) -> float:
    """Return how long a batch takes by the model."""
    waves = -(-12 // cores)
    return COST.base_s + (COST.waves_s + COST.row_s * rows) * waves / 12


def test_only_sizes_that_save_a_wave_are_useful() -> None:
    """Five cores need three waves for twelve partitions, as four do."""
    assert COST.sizes == (1, 2, 3, 4, 6, 12)


@pytest.mark.parametrize("cores", [1, 2, 3, 4, 6])
def test_capacity_is_the_rate_whose_batches_fill_their_interval(cores: int) -> None:
    """By the model itself."""
    assert duration_s(cores, 2 * COST.capacity_per_s(cores)) == pytest.approx(2.0)


def test_a_batch_whose_overhead_exceeds_the_interval_has_no_capacity() -> None:
    """Nothing is left for rows, whatever the size."""
    slow = BatchCost(base_s=2.5, waves_s=0, row_s=0.004, partitions=12, interval_s=2.0, most_cores=12)
    assert slow.capacity_per_s(12) == 0


def test_a_size_bears_its_share_of_the_capacity_and_not_more() -> None:
    """Just below the share two cores are enough, just above three are taken."""
    most = 0.7 * COST.capacity_per_s(2)
    assert COST.cores_for(most) == 2
    assert COST.cores_for(most + 0.1) == 3
    assert COST.cores_for(1e6) == 12


def test_no_more_cores_are_taken_than_there_can_be() -> None:
    """Even where they do not suffice."""
    few = replace(COST, most_cores=5)
    assert few.sizes == (1, 2, 3, 4)
    assert few.cores_for(1e6) == 4


def test_the_cost_is_found_again_from_batches_of_two_sizes() -> None:
    """Exactly, where nothing disturbs it."""
    seen = [(cores, rows, duration_s(cores, rows)) for cores in (1, 6) for rows in (100.0, 150.0, 300.0)]
    found = BatchCost.fitted(seen, partitions=12, interval_s=2.0, most_cores=12)
    assert (found.base_s, found.waves_s, found.row_s) == pytest.approx((0.4, 0.36, 0.004))


def test_the_optimum_starts_a_core_before_it_is_needed() -> None:
    """The three seconds of start-up are paid; letting go costs nothing."""
    few, many = 100.0, 0.7 * COST.capacity_per_s(4)
    assert optimal_cores([few] * 5 + [many] * 2 + [few] * 2, COST, start_up_s=3) == [1, 1, 4, 4, 4, 4, 4, 1, 1]


def test_the_optimum_keeps_a_core_through_a_gap_shorter_than_a_start_up() -> None:
    """Starting it again would cost as much."""
    few, many = 100.0, 0.7 * COST.capacity_per_s(2)
    assert optimal_cores([many, few, few, many, few], COST, start_up_s=3) == [2, 2, 2, 2, 1]


def test_without_a_start_up_the_optimum_has_what_is_needed_in_each_second() -> None:
    """Neither earlier nor longer."""
    few, many = 100.0, 0.7 * COST.capacity_per_s(2)
    assert optimal_cores([few, many, few], COST, start_up_s=0) == [1, 2, 1]
