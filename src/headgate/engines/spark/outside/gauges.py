"""
What a driver's own pages tell of an application that writes no event log: gauges of its queries, and its executors.

Batches are not seen one by one, so what rows cost cannot be learnt: such an application is only observed. Source of
names: Spark's `MetricsReporter` (`spark.sql.streaming.metricsEnabled=true`) and its REST API.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from headgate.engines.spark.application import Executors

_GAUGE = re.compile(r".+\.driver\.spark\.streaming\.(?P<query>.+)\.(?P<name>[\w-]+)")
_DRIVER = "driver"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryGauges:
    """Of one query, about its latest batch; NaN or missing before there was one."""

    processed_per_s: float = math.nan
    """Rows a second while a batch runs."""
    latency_ms: float = math.nan
    """Duration of a batch."""
    state_bytes: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverState:
    """What was told at one instant."""

    executors: Executors
    busy_ms: float
    """Task time of all executors, those that are gone included."""
    queries: Mapping[str, QueryGauges]
    """By name, or id where they have none."""
    settings: Mapping[str, str] = field(default_factory=dict)


def read_gauges(answer: Any) -> Mapping[str, QueryGauges]:
    """Read `/metrics/json`."""
    found: dict[str, dict[str, float]] = {}
    for name, told in answer["gauges"].items():
        if match := _GAUGE.fullmatch(name):
            found.setdefault(match["query"], {})[match["name"]] = _number(told.get("value"))
    return {
        query: QueryGauges(
            processed_per_s=gauges.get("processingRate-total", math.nan),
            latency_ms=gauges.get("latency", math.nan),
            state_bytes=gauges.get("states-usedBytes", 0.0),
        )
        for query, gauges in sorted(found.items())
    }


def read_settings(answer: Any) -> Mapping[str, str]:
    """Read `/environment`."""
    return {str(key): str(value) for key, value in answer["sparkProperties"]}


def read_executors(answer: Sequence[Any], settings: Mapping[str, str]) -> tuple[Executors, float]:
    """Read `/allexecutors`, and give the task time of all, in ms, as well."""
    told = [each for each in answer if each["id"] != _DRIVER]
    alive = [each for each in told if each["isActive"]]
    times = [_instant(each[key]) for each in answer for key in ("addTime", "removeTime") if each.get(key)]
    executors = Executors(
        ids=tuple(str(each["id"]) for each in alive),
        cores_each=max(min((int(each["totalCores"]) for each in alive), default=1), 1),
        changed_at=max(times),
        task_cpus=max(int(settings.get("spark.task.cpus", "1")), 1),
    )
    return executors, float(sum(each["totalDuration"] for each in told))


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text.removesuffix("GMT")).replace(tzinfo=UTC)
