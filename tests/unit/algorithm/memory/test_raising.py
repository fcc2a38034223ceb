"""More memory for TaskManagers that a rescale left short of it: what was short grows, all else stays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from headgate.algorithm.memory.config import Key, MemoryConfig
from headgate.algorithm.memory.flink_sizes import ProcessMemory, derive_memory
from headgate.algorithm.memory.network import network_bytes
from headgate.algorithm.memory.raising import NoRaise, Raise, raised_memory
from headgate.model.decision import ConfigChanges
from headgate.model.rollback import Pool, Shortage
from headgate.model.samples import EngineSettings
from headgate.options.autoscaler import AutoscalerOptions
from headgate.testing.builders import chain

MIB = 2**20
WANTED = chain({"source": 8, "sink": 8})
PARTS: Mapping[str, str] = {
    Key.TASK_HEAP: "256m",
    Key.MANAGED_SIZE: "64m",
    Key.NETWORK_MIN: "64m",
    Key.NETWORK_MAX: "64m",
}
LAYOUTS: Mapping[str, Mapping[str, str]] = {
    "parts": PARTS,
    "parts and process": {**PARTS, Key.PROCESS_SIZE: "1200m"},
    "process": {Key.PROCESS_SIZE: "1728m"},
    "process, older names": {Key.PROCESS_SIZE: "4g", "taskmanager.network.memory.max": "128m"},
    "flink": {Key.FLINK_SIZE: "1280m"},
    "flink and process": {Key.FLINK_SIZE: "1280m", Key.PROCESS_SIZE: "1728m"},
    "flink and heap": {Key.FLINK_SIZE: "1280m", Key.TASK_HEAP: "256m", Key.NETWORK_MAX: "1g"},
}


def raised(
    shortage: Shortage, layout: Mapping[str, str] = PARTS, *, workers: int = 2, **options: Any
) -> Raise | NoRaise:
    """Return what TaskManagers of two slots get."""
    settings = EngineSettings(slots_per_task_manager=2, memory=layout)
    return raised_memory(shortage, WANTED, settings, AutoscalerOptions(**options), workers=workers)


def pools(layout: Mapping[str, str], more: Raise | NoRaise) -> tuple[ProcessMemory, ProcessMemory]:
    """Return the pools that Flink derives before and after."""
    assert isinstance(more, Raise), more
    config = MemoryConfig(layout)
    return derive_memory(config), derive_memory(config.with_changes(ConfigChanges(overrides=more.settings)))


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_network_memory_grows_alone(layout: Mapping[str, str]) -> None:
    """Whichever way the cluster's memory is configured: no other pool gives anything for it, every total grows."""
    more = raised(Shortage(pool=Pool.NETWORK, required=120, available=20, buffers=10_000), layout)
    before, after = pools(layout, more)
    assert after.flink.network >= 10_100 * 32 * 1024
    assert replace(after.flink, network=0) == replace(before.flink, network=0)
    assert (after.metaspace, after.overhead >= before.overhead) == (before.metaspace, True)
    assert isinstance(more, Raise)
    assert more.total_bytes == after.total >= before.total + after.flink.network - before.flink.network


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_the_heap_is_doubled(layout: Mapping[str, str]) -> None:
    """That of framework and tasks together; managed memory stays, whoever may use it."""
    before, after = pools(layout, raised(Shortage(pool=Pool.HEAP), layout))
    assert 2 * before.flink.heap <= after.flink.heap < 2 * before.flink.heap + MIB
    assert after.flink.managed == before.flink.managed
    assert after.flink.network >= before.flink.network


def test_a_cluster_that_is_configured_by_parts_is_told_of_the_pool_alone() -> None:
    """What was raised earlier is not taken back by that."""
    network, heap = raised(Shortage(pool=Pool.NETWORK)), raised(Shortage(pool=Pool.HEAP))
    assert isinstance(network, Raise)
    assert isinstance(heap, Raise)
    assert network.settings == {Key.NETWORK_MIN: "128 mb", Key.NETWORK_MAX: "128 mb"}
    assert heap.settings == {Key.TASK_HEAP: "640 mb"}


def test_network_memory_is_what_the_graph_needs_with_a_reserve() -> None:
    """By Flink's own count, where that is more than there is; else by what was missing, or twice as much."""
    settings = EngineSettings(slots_per_task_manager=2, memory={**PARTS, Key.BUFFERS_PER_CHANNEL: "100"})
    counted = network_bytes(WANTED, MemoryConfig(settings.memory), 2)
    more = raised(Shortage(pool=Pool.NETWORK), settings.memory)
    _, after = pools(settings.memory, more)
    assert 1.2 * counted <= after.flink.network < 1.2 * counted + MIB


def test_nothing_is_raised_beyond_the_quota() -> None:
    """It counts all TaskManagers, and says by how much it would be exceeded."""
    heap = Shortage(pool=Pool.HEAP)
    one = raised(heap, workers=1)
    assert isinstance(one, Raise)
    assert isinstance(raised(heap, workers=2, quota_memory=2 * one.total_bytes), Raise)
    refused = raised(heap, workers=2, quota_memory=2 * one.total_bytes - 1)
    assert isinstance(refused, NoRaise)
    assert refused.reason.startswith("2 TaskManagers would take ")


def test_a_layout_that_cannot_be_read_is_left_alone() -> None:
    """Nothing is guessed: without a total, or with a text that Flink would refuse."""
    for total, why in (("", "no total memory is set"), ("much", "'much' is not a memory size")):
        found = raised(Shortage(pool=Pool.HEAP), {Key.PROCESS_SIZE.value: total} if total else {})
        assert isinstance(found, NoRaise)
        assert why in found.reason
