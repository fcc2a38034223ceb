"""Pools are sized by what was measured, in order of need, from one budget."""

from __future__ import annotations

from dataclasses import astuple, replace

import pytest

from headgate.algorithm.memory.budget import Budget
from headgate.algorithm.memory.config import MemoryConfig
from headgate.algorithm.memory.flink_sizes import derive_memory
from headgate.algorithm.memory.pools import Need, choose_pools, measured
from headgate.model.metrics import JobMetric, JobValue
from headgate.options.autoscaler import AutoscalerOptions
from headgate.testing.builders import chain, evaluated

MIB = 2**20
PROCESS = 4096 * MIB
SPEC = derive_memory(MemoryConfig({"taskmanager.memory.process.size": str(PROCESS)}))
UNCHANGED = SPEC.flink.framework_off_heap + SPEC.overhead
NEED = Need(network=100 * MIB, metaspace=100 * MIB, heap=1000 * MIB, managed=1)
OPTIONS = AutoscalerOptions(memory_tuning_overhead=0.5)


def test_measured_pools_get_their_reserve() -> None:
    """Metaspace and heap get half as much again; the network is counted, not measured."""
    pools = choose_pools(NEED, SPEC, Budget(PROCESS), OPTIONS)

    assert (pools.network, pools.metaspace, pools.heap) == (100 * MIB, 150 * MIB, 1500 * MIB)


def test_managed_memory_that_is_used_keeps_its_size() -> None:
    """What RocksDB needs cannot be seen, so the user's size stays."""
    assert choose_pools(NEED, SPEC, Budget(PROCESS), OPTIONS).managed == SPEC.flink.managed


def test_managed_memory_that_is_not_used_is_given_up() -> None:
    """A job without managed memory needs none, even where it would be maximized."""
    maximize = replace(OPTIONS, maximize_managed_memory=True)

    assert choose_pools(replace(NEED, managed=0), SPEC, Budget(PROCESS), OPTIONS).managed == 0
    assert choose_pools(replace(NEED, managed=0), SPEC, Budget(PROCESS), maximize).managed == 0


def test_managed_memory_may_take_everything_that_is_saved() -> None:
    """Then nothing of the process memory is left over."""
    budget = Budget(PROCESS)

    pools = choose_pools(NEED, SPEC, budget, replace(OPTIONS, maximize_managed_memory=True))

    assert budget.left == 0
    assert pools.managed == PROCESS - UNCHANGED - 1750 * MIB


@pytest.mark.parametrize(
    ("left", "expected"),
    [
        (-1, (0, 0, 0, 0)),
        (60, (60, 0, 0, 0)),
        (140, (100, 40, 0, 0)),
        (650, (100, 150, 400, 0)),
        (1800, (100, 150, 1500, 50)),
    ],
)
def test_the_budget_runs_out_in_order_of_need(left: int, expected: tuple[int, ...]) -> None:
    """Network, metaspace, heap, managed memory; all together never more than the budget."""
    total = UNCHANGED + left * MIB
    budget = Budget(total)

    pools = choose_pools(NEED, SPEC, budget, OPTIONS)

    assert astuple(pools) == tuple(size * MIB for size in expected)
    assert budget.left == 0


@pytest.mark.parametrize("unknown", [None, float("nan")])
def test_an_unknown_use_is_a_fault_where_it_is_required(unknown: float | None) -> None:
    """Taken as 0 it would leave a TaskManager without a heap, so only the reference does so."""
    found = replace(evaluated(chain({"v": 1}), {}), job={JobMetric.HEAP_MEMORY_USED: JobValue(average=unknown)})

    assert measured(found, JobMetric.HEAP_MEMORY_USED, required=False) == 0
    with pytest.raises(ValueError, match="HEAP_MEMORY_USED is unknown"):
        measured(found, JobMetric.HEAP_MEMORY_USED, required=True)
