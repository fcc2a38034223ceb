"""
The pools of a TaskManager are Flink's, to the byte.

The numbers are what Flink 2.3.0 printed at its start ("Final TaskExecutor Memory configuration") with these settings.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from headgate.algorithm.memory.config import MemoryConfig
from headgate.algorithm.memory.flink_sizes import FlinkMemory, ProcessMemory, Share, derive_memory, multiply

MIB = 2**20


def _config(settings: Mapping[str, str]) -> MemoryConfig:
    return MemoryConfig({f"taskmanager.memory.{key}": text for key, text in settings.items()})


def _memory(*, task_heap: int, managed: int, network: int, overhead: int) -> ProcessMemory:
    """Give pools with Flink's default sizes but for these."""
    flink = FlinkMemory(
        framework_heap=128 * MIB,
        framework_off_heap=128 * MIB,
        task_heap=task_heap,
        task_off_heap=0,
        managed=managed,
        network=network,
    )
    return ProcessMemory(flink=flink, metaspace=256 * MIB, overhead=overhead)


FROM_FLINK = {
    "only the process, its overhead at the most": (
        {"process.size": "30g"},
        _memory(task_heap=15166603034, managed=12348031160, network=3087007790, overhead=1073741824),
    ),
    "Flink's own default, overhead at the least": (
        {"process.size": "1728m"},
        _memory(task_heap=402653174, managed=536870920, network=134217730, overhead=201326592),
    ),
    "network at the least": (
        {"process.size": "1g"},
        _memory(task_heap=26843542, managed=241591914, network=67108864, overhead=201326592),
    ),
    "only Flink's memory": (
        {"flink.size": "1280m"},
        _memory(task_heap=402653174, managed=536870920, network=134217730, overhead=201326592),
    ),
    "only task heap and managed memory": (
        {"task.heap.size": "1g", "managed.size": "512m"},
        _memory(task_heap=1073741824, managed=536870912, network=208783135, overhead=261807424),
    ),
    "task heap, managed and Flink's memory: network is the rest": (
        {"task.heap.size": "1g", "managed.size": "512m", "flink.size": "2g"},
        _memory(task_heap=1073741824, managed=536870912, network=268435456, overhead=268435460),
    ),
    "process and Flink's memory: overhead is the rest": (
        {"process.size": "4g", "flink.size": "3g"},
        _memory(task_heap=1342177256, managed=1288490208, network=322122552, overhead=805306368),
    ),
    "managed and network are given sizes": (
        {"process.size": "4g", "managed.size": "1g", "network.min": "1g", "network.max": "1g"},
        _memory(task_heap=1181116000, managed=1073741824, network=1073741824, overhead=429496736),
    ),
    "the task heap is given: network is the rest": (
        {"process.size": "4g", "task.heap.size": "2g", "managed.fraction": "0.1"},
        _memory(task_heap=2147483648, managed=359703515, network=821412485, overhead=429496736),
    ),
    "managed memory by its older name": (
        {"process.size": "4g", "size": "1g"},
        _memory(task_heap=1895154309, managed=1073741824, network=359703515, overhead=429496736),
    ),
    "nearly everything is set": (
        {
            "process.size": "4g",
            "managed.fraction": "0.7",
            "network.max": "128m",
            "jvm-metaspace.size": "512m",
            "jvm-overhead.fraction": "0.07",
            "framework.heap.size": "64m",
            "framework.off-heap.size": "256m",
            "task.off-heap.size": "100m",
        },
        ProcessMemory(
            flink=FlinkMemory(
                framework_heap=67108864,
                framework_off_heap=268435456,
                task_heap=462614996,
                task_off_heap=104857600,
                managed=2420214029,
                network=134217728,
            ),
            metaspace=536870912,
            overhead=300647711,
        ),
    ),
}


@pytest.mark.parametrize(("settings", "memory"), FROM_FLINK.values(), ids=FROM_FLINK)
def test_pools_are_those_of_flink(settings: Mapping[str, str], memory: ProcessMemory) -> None:
    """Whatever the user sets, every pool has the size that Flink gives it."""
    assert derive_memory(_config(settings)) == memory


REFUSED = {
    "no total at all": ({"managed.size": "1g"}, "no total memory is set"),
    "too small for the fixed pools": ({"process.size": "600m"}, "Flink's memory has only"),
    "too small for the JVM": ({"process.size": "400m"}, "metaspace and overhead take"),
    "bounds the wrong way round": ({"process.size": "4g", "jvm-overhead.min": "2g"}, "JVM overhead memory"),
    "totals that do not fit together": ({"process.size": "4g", "flink.size": "1g"}, "left for JVM overhead memory"),
    "no room for the network": ({"process.size": "1g", "task.heap.size": "512m"}, "left for network memory"),
    "a fraction of one": ({"process.size": "4g", "managed.fraction": "1.0"}, "managed memory is 1"),
    "no size": ({"process.size": "many"}, "'many' is not a memory size"),
    "no number": ({"process.size": "4g", "managed.fraction": "half"}, "half"),
}


@pytest.mark.parametrize(("settings", "fault"), REFUSED.values(), ids=REFUSED)
def test_what_flink_refuses_is_refused(settings: Mapping[str, str], fault: str) -> None:
    """Settings with which no TaskManager starts are a fault that says what does not fit."""
    with pytest.raises(ValueError, match=fault):
        derive_memory(_config(settings))


def test_the_parts_add_up() -> None:
    """The pools of a process make up the process."""
    assert derive_memory(_config({"process.size": "30g"})).total == 30 * 2**30


def test_a_product_is_exact() -> None:
    """A product is taken of the decimal digits: a float's product would have lost the last bytes."""
    assert multiply(2**60, 0.1) == 2**60 // 10
    assert multiply(10, 0.99) == 9


def test_a_share_of_the_rest_is_the_share_of_the_whole() -> None:
    """Half of it beside 200 is 200, half of 400."""
    share = Share(name="any", fraction=0.5)

    assert share.beside(200) == share.of(400) == 200
