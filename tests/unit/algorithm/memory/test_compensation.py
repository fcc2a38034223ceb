"""When a job shrinks to fewer TaskManagers, each gets more heap."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headgate.algorithm.memory.budget import Budget
from headgate.algorithm.memory.compensation import compensated, heap_factor
from headgate.algorithm.resources import Rescale
from headgate.model.metrics import EvaluatedMetrics, JobMetric, JobValue
from headgate.model.samples import EngineSettings
from headgate.options.autoscaler import AutoscalerOptions
from headgate.testing.builders import chain, evaluated


def _rescale(before: int, after: int) -> Rescale:
    return Rescale(before=chain({"a": before, "b": before}), after=chain({"a": after, "b": after}))


def _using(slots: float | None) -> EvaluatedMetrics:
    job = {JobMetric.NUM_TASK_SLOTS_USED: JobValue(current=slots)}
    return replace(evaluated(chain({"a": 1}), {}), job=job)


@pytest.mark.parametrize(
    ("before", "after", "per_task_manager", "factor"),
    [(20, 10, 1, 2.0), (20, 10, 8, 1.5), (10, 20, 1, 1.0), (10, 10, 3, 1.0)],
)
def test_the_factor_is_task_managers_before_over_after(
    before: int, after: int, per_task_manager: int, factor: float
) -> None:
    """TaskManagers are rounded up on both sides, and growth takes nothing away."""
    settings = EngineSettings(slots_per_task_manager=per_task_manager)

    found = heap_factor(_rescale(before, after), _using(before), settings, AutoscalerOptions())

    assert found == factor


@pytest.mark.parametrize("unknown", [None, float("nan")])
def test_unknown_slots_give_no_more_heap(unknown: float | None) -> None:
    """Without the slots in use there is nothing to compare with."""
    assert heap_factor(_rescale(20, 10), _using(unknown), EngineSettings(), AutoscalerOptions()) == 1


def test_it_can_be_switched_off() -> None:
    """The option leaves the heap at what was measured."""
    options = AutoscalerOptions(memory_compensation_enabled=False)

    assert heap_factor(_rescale(20, 10), _using(20), EngineSettings(), options) == 1


def test_the_heap_grows_as_far_as_the_budget_goes() -> None:
    """The addition is paid from what is left."""
    assert compensated(100, 1.5, Budget(1000)) == 150
    assert compensated(100, 1.5, Budget(20)) == 120
    assert compensated(100, 1.0, Budget(1000)) == 100
