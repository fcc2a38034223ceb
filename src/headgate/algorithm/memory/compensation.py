"""More heap for each TaskManager when there will be fewer of them, since the job's objects stay as many."""

from __future__ import annotations

from headgate.algorithm.memory.budget import Budget
from headgate.algorithm.resources import Rescale, slots_used, task_managers_across
from headgate.model.metrics import EvaluatedMetrics
from headgate.model.samples import EngineSettings
from headgate.options.autoscaler import AutoscalerOptions


def heap_factor(
    rescale: Rescale, evaluated: EvaluatedMetrics, settings: EngineSettings, options: AutoscalerOptions
) -> float:
    """Give by how much the heap should grow with a change: TaskManagers before over after, at least 1."""
    if not options.memory_compensation_enabled:
        return 1.0
    before, after = task_managers_across(rescale, slots_used(evaluated) or 0, settings.slots_per_task_manager)
    return max(1.0, before / after) if after else 1.0


def compensated(heap: int, factor: float, budget: Budget) -> int:
    """Give the heap times the factor, as far as the budget pays for what is added."""
    return heap + budget.take(int(heap * factor) - heap)
