"""The defaults are those of the reference's release 1.16.0."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from headgate.algorithm.alignment import AlignmentMode, mode_of
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.declaration import declarations
from headgate.options.units import format_duration

REFERENCE: dict[str, Any] = {
    "scaling.enabled": True,
    "metrics.window": "15 min",
    "stabilization.interval": "5 min",
    "excluded.periods": (),
    "utilization.target": 0.7,
    "target.utilization.boundary": 0.3,
    "utilization.max": None,
    "utilization.min": None,
    "scale-down.interval": "1 h",
    "vertex.min-parallelism": 1,
    "vertex.max-parallelism": 200,
    "scale-down.max-factor": 0.6,
    "scale-up.max-factor": 100_000.0,
    "catch-up.duration": "30 min",
    "restart.time": "5 min",
    "restart.time-tracking.enabled": False,
    "restart.time-tracking.limit": "15 min",
    "backlog-processing.lag-threshold": "5 min",
    "observed-true-processing-rate.lag-threshold": "30 s",
    "observed-true-processing-rate.switch-threshold": 0.15,
    "observed-true-processing-rate.min-observations": 2,
    "scaling.effectiveness.detection.enabled": False,
    "scaling.effectiveness.threshold": 0.1,
    "memory.gc-pressure.threshold": 1.0,
    "memory.heap-usage.threshold": 1.0,
    "memory.tuning.enabled": False,
    "memory.tuning.scale-down-compensation.enabled": True,
    "memory.tuning.overhead": 0.2,
    "memory.tuning.maximize-managed-memory": False,
    "history.max.count": 3,
    "history.max.age": "1 d",
    "metrics.busy-time.aggregator": "MAX",
    "vertex.exclude.ids": (),
    "scaling.event.interval": "30 min",
    "quota.memory": None,
    "quota.cpu": None,
    "observed-scalability.enabled": False,
    "observed-scalability.min-observations": 3,
    "observed-scalability.coefficient-min": 0.5,
    "metrics.custom-evaluators": (),
    "scaling.custom-executors": (),
}


def test_defaults_are_those_of_the_reference() -> None:
    """Who comes with their options gets the same from those that they have not set; `enabled` is on here."""
    options = AutoscalerOptions()
    ours = {each.key: getattr(options, each.name) for each in declarations(AutoscalerOptions)}

    assert {key: _written(ours[key]) for key in REFERENCE} == REFERENCE


def _written(value: Any) -> Any:
    return format_duration(value) if isinstance(value, timedelta) else value


def test_alignment_stops_no_change_by_default() -> None:
    """The reference's default until 1.15 did."""
    assert mode_of(AutoscalerOptions()) is AlignmentMode.BALANCED
