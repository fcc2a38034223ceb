"""
More memory for the TaskManagers of a job that a rescale made short of it, as settings (FLINK-37411, its two cases).

The one pool that was short grows, and with it every total that is set; all other pools keep their sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from headgate.algorithm.memory.config import Key, MemoryConfig
from headgate.algorithm.memory.flink_sizes import FlinkMemory, ProcessMemory, derive_memory
from headgate.algorithm.memory.network import network_bytes
from headgate.algorithm.wording import memory_size
from headgate.model.decision import ConfigChanges
from headgate.model.rollback import Pool, Shortage
from headgate.model.samples import EngineSettings
from headgate.model.topology import Topology
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.units import format_memory_size

_FACTOR = 2
"""How much larger a pool gets of which nobody says what it needs."""
_MIB = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Raise:
    """More memory for each TaskManager."""

    settings: Mapping[str, str]
    """The engine's own keys, to be set over those of the cluster."""
    total_bytes: int
    """A TaskManager's process memory with them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoRaise:
    """No settings can be given, which is a normal answer."""

    reason: str


def raised_memory(
    shortage: Shortage, wanted: Topology, settings: EngineSettings, options: AutoscalerOptions, *, workers: int
) -> Raise | NoRaise:
    """
    Give the settings with which the TaskManagers would not be short any more.

    Args:
        shortage: of what.
        wanted: the graph at the parallelism that made the job sick.
        settings: with the memory settings of the cluster as they are written.
        options: reserve and quota.
        workers: how many TaskManagers get them.
    """
    config = MemoryConfig(settings.memory)
    try:
        now = derive_memory(config)
        then = _grown(now, shortage, _needed(shortage, wanted, settings, options))
        changes = _settings(config, now, then, shortage.pool)
        derived = derive_memory(config.with_changes(ConfigChanges(overrides=changes)))
    except ValueError as error:
        return NoRaise(reason=f"its memory settings are not understood: {error}")
    if derived.flink.network < then.flink.network or derived.flink.task_heap < then.flink.task_heap:
        return NoRaise(reason=f"its memory settings leave no way to more {shortage.pool}")
    if excess := _over_quota(derived.total, options, workers):
        return NoRaise(reason=excess)
    return Raise(settings=changes, total_bytes=derived.total)


def _needed(shortage: Shortage, wanted: Topology, settings: EngineSettings, options: AutoscalerOptions) -> int:
    """
    Give the bytes that the pool should have at least, with the reserve; 0 when unknown.

    One task tells what it did not get, those after it would have lacked more: Flink's own count knows of all of them.
    """
    if shortage.pool is Pool.HEAP:
        return 0
    config = MemoryConfig(settings.memory)
    counted = network_bytes(wanted, config, settings.slots_per_task_manager)
    lacked = ((shortage.buffers or 0) + shortage.missing) * config.size(Key.SEGMENT_SIZE)
    return int(max(counted, lacked) * (1 + options.memory_tuning_overhead))


def _grown(now: ProcessMemory, shortage: Shortage, needed: int) -> ProcessMemory:
    flink = now.flink
    if shortage.pool is Pool.HEAP:
        return replace(now, flink=replace(flink, task_heap=_whole(_FACTOR * flink.heap) - flink.framework_heap))
    enough = needed if needed > flink.network else _FACTOR * flink.network
    return replace(now, flink=replace(flink, network=_whole(enough)))


def _settings(config: MemoryConfig, now: ProcessMemory, then: ProcessMemory, pool: Pool) -> Mapping[str, str]:
    """Name the pool, and where a total is set also that and all that would follow from it."""
    totals = {Key.FLINK_SIZE: then.flink.total, Key.PROCESS_SIZE: then.total}
    sizes = {key: size for key, size in totals.items() if config.sets(key)}
    named = _network(then.flink) if pool is Pool.NETWORK else {Key.TASK_HEAP: then.flink.task_heap}
    if sizes:
        named = _network(then.flink) | {Key.TASK_HEAP: then.flink.task_heap, Key.MANAGED_SIZE: then.flink.managed}
    if config.sets(Key.PROCESS_SIZE):
        named |= {Key.OVERHEAD_MIN: now.overhead, Key.OVERHEAD_MAX: now.overhead}
    return {str(key): format_memory_size(size) for key, size in (named | sizes).items()}


def _network(flink: FlinkMemory) -> dict[Key, int]:
    return {Key.NETWORK_MIN: flink.network, Key.NETWORK_MAX: flink.network}


def _over_quota(total: int, options: AutoscalerOptions, workers: int) -> str:
    if options.quota_memory is None or total * workers <= options.quota_memory:
        return ""
    taken, quota = memory_size(total * workers), memory_size(options.quota_memory)
    return f"{workers} TaskManagers would take {taken}, quota.memory is {quota}"


def _whole(size: int) -> int:
    """Round up to whole MiB, for people."""
    return -(-size // _MIB) * _MIB
