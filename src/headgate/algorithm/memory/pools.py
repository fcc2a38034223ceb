"""The sizes of a TaskManager's pools that fit what was measured, each paid from one budget in order of need."""

from __future__ import annotations

import math
from dataclasses import dataclass

from headgate.algorithm.memory.budget import Budget
from headgate.algorithm.memory.flink_sizes import ProcessMemory
from headgate.model.metrics import EvaluatedMetrics, JobMetric, JobValue
from headgate.options.autoscaler import AutoscalerOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What a TaskManager needs, bytes."""

    network: int
    """By Flink's count of buffers at the new parallelism."""
    metaspace: int
    """Measured, mean over the window."""
    heap: int
    """Measured, mean over the window."""
    managed: int
    """Measured, mean over the window; 0 for a job that uses none. RocksDB's own use cannot be seen in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pools:
    """The pools that are chosen, bytes; the others keep their sizes."""

    network: int
    metaspace: int
    heap: int
    """Of framework and tasks together."""
    managed: int


def measured(evaluated: EvaluatedMetrics, metric: JobMetric, *, required: bool) -> int:
    """
    Give the mean use of a pool in whole bytes.

    Raises:
        ValueError: it is unknown though required; otherwise it counts as 0.
    """
    mean = evaluated.job.get(metric, JobValue()).average
    if mean is not None and not math.isnan(mean):
        return int(mean)
    if required:
        message = f"{metric} is unknown"
        raise ValueError(message)
    return 0


def choose_pools(need: Need, spec: ProcessMemory, budget: Budget, options: AutoscalerOptions) -> Pools:
    """
    Choose the pools, metaspace and heap with their reserve.

    Managed memory comes last since it takes whatever it can get; a job that uses none gets none.

    Args:
        need: what was measured.
        spec: the pools as the user's settings have them.
        budget: the process memory; what is not tuned is taken from it first.
        options: reserve and what becomes of memory that is saved.
    """
    for unchanged in (spec.flink.framework_off_heap, spec.flink.task_off_heap, spec.overhead):
        budget.take(unchanged)
    reserve = 1 + options.memory_tuning_overhead
    network = budget.take(need.network)
    metaspace = budget.take(int(need.metaspace * reserve))
    heap = budget.take(int(need.heap * reserve))
    most = budget.left if options.maximize_managed_memory else spec.flink.managed
    return Pools(network=network, metaspace=metaspace, heap=heap, managed=budget.take(most if need.managed else 0))
