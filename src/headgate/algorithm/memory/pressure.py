"""Signs that a job is short of memory: then its rates tell more of the garbage collector than of the load."""

from __future__ import annotations

from headgate.model.decision import Notice
from headgate.model.events import EventReason, EventType
from headgate.model.metrics import EvaluatedMetrics, JobMetric, JobValue
from headgate.options.autoscaler import AutoscalerOptions


def memory_pressure(evaluated: EvaluatedMetrics, options: AutoscalerOptions) -> Notice | None:
    """
    Tell of memory pressure, if there is any; the garbage collector comes before the heap.

    A value must be strictly above its threshold, so an unknown one never is, and a threshold of 1 switches it off.
    """
    collecting = _value(evaluated, JobMetric.GC_PRESSURE).current
    if _above(collecting, options.gc_pressure_threshold):
        limit = f"memory.gc-pressure.threshold {options.gc_pressure_threshold:g}"
        return _notice("gcPressure", f"garbage collection takes {collecting:.3g} of the time, above {limit}")
    heap = _value(evaluated, JobMetric.HEAP_MAX_USAGE_RATIO).average
    if _above(heap, options.heap_usage_threshold):
        limit = f"memory.heap-usage.threshold {options.heap_usage_threshold:g}"
        return _notice("heapUsage", f"{heap:.3g} of the heap is in use on average, above {limit}")
    return None


def _value(evaluated: EvaluatedMetrics, metric: JobMetric) -> JobValue:
    return evaluated.job.get(metric, JobValue())


def _above(value: float | None, threshold: float) -> bool:
    return value is not None and value > threshold


def _notice(key: str, message: str) -> Notice:
    return Notice(
        reason=EventReason.MEMORY_PRESSURE,
        type=EventType.NORMAL,
        message=f"{message}: nothing is scaled",
        key=key,
    )
