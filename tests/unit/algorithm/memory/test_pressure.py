"""Memory pressure is told of when a value is really above its threshold."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from headgate.algorithm.memory.pressure import memory_pressure
from headgate.model.decision import Notice
from headgate.model.metrics import EvaluatedMetrics, JobMetric, JobValue
from headgate.options.autoscaler import AutoscalerOptions
from headgate.testing.builders import chain, evaluated

WATCHED = AutoscalerOptions(gc_pressure_threshold=0.5, heap_usage_threshold=0.8)


def _measured(*, collecting: float | None = None, heap: JobValue | None = None) -> EvaluatedMetrics:
    job = {JobMetric.GC_PRESSURE: JobValue(current=collecting), JobMetric.HEAP_MAX_USAGE_RATIO: heap or JobValue()}
    return replace(evaluated(chain({"v": 1}), {}), job=job)


def _key(notice: Notice | None) -> str | None:
    return notice.key if notice else None


def test_much_garbage_collection_is_pressure() -> None:
    """The latest share of time counts, and the message tells it."""
    notice = memory_pressure(_measured(collecting=0.51), WATCHED)

    assert _key(notice) == "gcPressure"
    assert notice is not None
    assert "0.51" in notice.message


def test_a_full_heap_is_pressure_by_its_mean() -> None:
    """A heap that is full right before a collection is normal: its mean over the window counts."""
    assert _key(memory_pressure(_measured(heap=JobValue(current=0.1, average=0.81)), WATCHED)) == "heapUsage"
    assert memory_pressure(_measured(heap=JobValue(current=0.99, average=0.79)), WATCHED) is None


def test_the_garbage_collector_comes_first() -> None:
    """One notice is enough."""
    assert _key(memory_pressure(_measured(collecting=0.9, heap=JobValue(average=0.9)), WATCHED)) == "gcPressure"


def test_at_the_threshold_is_not_above_it() -> None:
    """So the default thresholds of 1 switch the check off."""
    assert memory_pressure(_measured(collecting=0.5, heap=JobValue(average=0.8)), WATCHED) is None
    assert memory_pressure(_measured(collecting=1.0, heap=JobValue(average=1.0)), AutoscalerOptions()) is None


@pytest.mark.parametrize("unknown", [None, math.nan])
def test_what_is_unknown_is_no_pressure(unknown: float | None) -> None:
    """A missing value stops nothing."""
    assert memory_pressure(_measured(collecting=unknown, heap=JobValue(average=unknown)), WATCHED) is None
    assert memory_pressure(evaluated(chain({"v": 1}), {}), WATCHED) is None
