"""
The memory settings to go with a change, from what the job was measured to use.

They never ask for more than the user's own process memory. Source: the reference's memory tuning (`MemoryTuning`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from headgate.algorithm.memory.budget import Budget
from headgate.algorithm.memory.compensation import compensated, heap_factor
from headgate.algorithm.memory.config import OLD_MANAGED_SIZE, Key, MemoryConfig
from headgate.algorithm.memory.flink_sizes import ProcessMemory, derive_memory
from headgate.algorithm.memory.network import network_bytes
from headgate.algorithm.memory.pools import Need, Pools, choose_pools, measured
from headgate.algorithm.resources import Rescale
from headgate.algorithm.wording import memory_size
from headgate.model.decision import ConfigChanges, Notice
from headgate.model.events import EventReason, EventType
from headgate.model.metrics import EvaluatedMetrics, JobMetric
from headgate.model.samples import EngineSettings
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.units import parse_memory_size

REMOVALS = frozenset({Key.FLINK_SIZE.value, Key.TASK_HEAP.value, Key.MANAGED_SIZE.value, OLD_MANAGED_SIZE})
"""Settings that would contradict the ones that are made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """Memory settings that fit what was measured."""

    changes: ConfigChanges
    total_bytes: int
    """A TaskManager's process memory with them; at most the user's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Untuned:
    """No settings can be given, which is a normal answer."""

    reason: str


def tuned_memory(
    rescale: Rescale, evaluated: EvaluatedMetrics, settings: EngineSettings, options: AutoscalerOptions, *, sound: bool
) -> Tuned | Untuned:
    """
    Give the memory settings to go with a change.

    Args:
        rescale: the change.
        evaluated: tells the memory in use.
        settings: with the user's own memory settings, not those of an earlier tuning.
        options: how to tune; whether tuning is enabled plays no part.
        sound: True gives nothing where a use is unknown or where Flink would not start with the result. False is
            the reference's rule: an unknown use is 0, and nothing is verified.
    """
    try:
        tuned = _tuned(rescale, evaluated, settings, options, sound=sound)
        if sound:
            derive_memory(MemoryConfig(settings.memory).with_changes(tuned.changes))
    except ValueError as error:
        return Untuned(reason=str(error))
    return tuned


def recommendation(tuned: Tuned, options: AutoscalerOptions) -> Notice:
    """Tell of the memory settings that fit, each in the fields; nobody needs to look where tuning is disabled."""
    enabled, overrides = options.memory_tuning_enabled, tuned.changes.overrides
    network, metaspace = (memory_size(parse_memory_size(overrides[key])) for key in (Key.NETWORK_MAX, Key.METASPACE))
    managed, overhead = (float(overrides[key]) for key in (Key.MANAGED_FRACTION, Key.OVERHEAD_FRACTION))
    shares = f"network {network}, metaspace {metaspace}, managed {managed:.1%}, overhead {overhead:.1%}"
    what = "it is asked for" if enabled else "memory tuning is disabled"
    return Notice(
        reason=EventReason.CONFIGURATION_RECOMMENDATION,
        type=EventType.NORMAL if enabled else EventType.DEBUG,
        message=f"a TaskManager of {memory_size(tuned.total_bytes)} ({shares}) fits what was measured; {what}",
        key="MemoryTuning",
        fields={**overrides, "removed": ", ".join(sorted(tuned.changes.removals))},
    )


def _tuned(
    rescale: Rescale, evaluated: EvaluatedMetrics, settings: EngineSettings, options: AutoscalerOptions, *, sound: bool
) -> Tuned:
    config = MemoryConfig(settings.memory)
    spec, process = derive_memory(config), _process_memory(settings)
    need = Need(
        network=network_bytes(rescale.after, config, settings.slots_per_task_manager),
        metaspace=measured(evaluated, JobMetric.METASPACE_MEMORY_USED, required=sound),
        heap=measured(evaluated, JobMetric.HEAP_MEMORY_USED, required=sound),
        managed=measured(evaluated, JobMetric.MANAGED_MEMORY_USED, required=sound),
    )
    budget = Budget(process)
    pools = choose_pools(need, spec, budget, options)
    factor = heap_factor(rescale, evaluated, settings, options)
    pools = replace(pools, heap=compensated(pools.heap, factor, budget))
    total = process - budget.left
    return Tuned(changes=ConfigChanges(overrides=_overrides(pools, spec, total), removals=REMOVALS), total_bytes=total)


def _process_memory(settings: EngineSettings) -> int:
    if not settings.task_manager_memory_bytes:
        message = "the memory of a TaskManager is unknown"
        raise ValueError(message)
    return settings.task_manager_memory_bytes


def _overrides(pools: Pools, spec: ProcessMemory, total: int) -> Mapping[str, str]:
    """
    Word the pools as Flink's settings: it derives the heap as what is left, the framework's part included.

    Managed memory and overhead are given as shares, since Flink takes them so where no size is set.
    """
    flink = spec.flink
    grown = pools.heap - flink.heap + pools.managed - flink.managed + pools.network - flink.network
    return {
        Key.PROCESS_SIZE.value: _size(total),
        Key.FRAMEWORK_HEAP.value: _size(0),
        Key.MANAGED_FRACTION.value: _share(pools.managed, flink.total + grown),
        Key.NETWORK_MIN.value: _size(pools.network),
        Key.NETWORK_MAX.value: _size(pools.network),
        Key.METASPACE.value: _size(pools.metaspace),
        Key.OVERHEAD_FRACTION.value: _share(spec.overhead, total),
    }


def _size(size: int) -> str:
    return f"{size} bytes"


def _share(part: int, whole: int) -> str:
    """Give three decimals, rounded up so that the part is not cut; 0 of nothing."""
    thousandths = -(-1000 * part // whole) if whole else 0
    return f"{thousandths / 1000:.3f}"
