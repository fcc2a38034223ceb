"""
What the reference autoscaler's JDBC plugin keeps of a job, read into Headgate's own values.

Its forms are those of its versions 1.15 and 1.16: JSON with instants as ISO text or seconds since 1970, durations as
seconds or ISO text, and numbers that are none in quotes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from math import isnan
from typing import Any

from pydantic import TypeAdapter

from headgate.model.identity import VertexId
from headgate.model.metrics import ScalingMetric
from headgate.model.state import DelayedScaleDown, ScalingRecord, Wish

TABLE = "t_flink_autoscaler_state_store"

LARGEST_VALUE = 20 * 2**20
"""Characters of a value that is still read. Source: the reference's limit for the states it keeps (FLINK-40401)."""


class StateType(StrEnum):
    """What a row of the table holds."""

    HISTORY = "scalingHistory"
    TRACKING = "scalingTracking"
    DELAYED = "delayedScaleDown"
    PARALLELISM = "parallelismOverrides"
    CONFIG = "configOverrides"
    METRICS = "collectedMetrics"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceState:
    """What is worth taking of one job."""

    history: tuple[ScalingRecord, ...] = ()
    """Oldest first."""
    delayed: Mapping[VertexId, DelayedScaleDown] = field(default_factory=dict)
    unreadable: Mapping[str, str] = field(default_factory=dict)
    """Rows that could not be read, by their type, and why; they count as empty, as in the reference."""


_INSTANT = TypeAdapter(datetime)
_DURATION = TypeAdapter(timedelta)
_METRICS = {metric.value for metric in ScalingMetric}


def read_state(job_id: str, rows: Mapping[str, str | None]) -> ReferenceState:
    """
    Read the rows of one job.

    Args:
        job_id: the reference's key of the job; part of the rescales' ids, so that they stay the same.
        rows: the values by their `state_type`; None for one above `LARGEST_VALUE`.
    """
    unreadable: dict[str, str] = {}

    def parsed(kind: StateType) -> Mapping[str, Any]:
        text = rows.get(kind, "{}")
        if text is None or len(text) > LARGEST_VALUE:
            unreadable[kind] = f"it is larger than {LARGEST_VALUE // 2**20} MB"
            return {}
        try:
            return dict(_READERS[kind](json.loads(text)))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            unreadable[kind] = str(error).splitlines()[0]
            return {}

    restarts = parsed(StateType.TRACKING)
    changes = parsed(StateType.HISTORY)
    history = tuple(_record(job_id, at, changes[at], restarts.get(at)) for at in sorted(changes))
    delayed = {VertexId(vertex): wishes for vertex, wishes in parsed(StateType.DELAYED).items()}
    return ReferenceState(history=history, delayed=delayed, unreadable=unreadable)


def _changes(value: Any) -> Mapping[str, Mapping[VertexId, Mapping[str, Any]]]:
    """Turn the history of each vertex into the changes of each instant."""
    changes: dict[str, dict[VertexId, Mapping[str, Any]]] = {}
    for vertex, of_vertex in value.items():
        for at, change in of_vertex.items():
            changes.setdefault(_instant(at).isoformat(), {})[VertexId(vertex)] = {
                "before": int(change["currentParallelism"]),
                "after": int(change["newParallelism"]),
                "metrics": dict(_metrics(change.get("metrics") or {})),
            }
    return changes


def _metrics(value: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[ScalingMetric, float]]:
    """Give of each metric what the reference decides by: the mean where there is one, else the latest value."""
    for name, numbers in value.items():
        known = [float(numbers[kind]) for kind in ("average", "current") if numbers.get(kind) is not None]
        number = next((each for each in known if not isnan(each)), None)
        if name in _METRICS and number is not None:
            yield ScalingMetric(name), number


def _restarts(value: Any) -> Iterator[tuple[str, timedelta]]:
    for at, record in value.get("scalingRecords", {}).items():
        taken = record.get("restartDuration")
        if taken is not None and (restart := _DURATION.validate_python(taken)) >= timedelta():
            yield _instant(at).isoformat(), restart


def _delayed(value: Any) -> Iterator[tuple[str, DelayedScaleDown]]:
    for vertex, waiting in value.get("delayedVertices", {}).items():
        wishes = tuple(
            Wish(
                at=_instant(wish["triggerTime"]),
                parallelism=int(wish["parallelism"]),
                outside=bool(wish["outsideUtilizationBound"]),
            )
            for wish in waiting["recommendedParallelisms"]
        )
        yield vertex, DelayedScaleDown(first_at=_instant(waiting["firstTriggerTime"]), wishes=wishes)


_READERS: Mapping[StateType, Any] = {
    StateType.HISTORY: _changes,
    StateType.TRACKING: _restarts,
    StateType.DELAYED: _delayed,
}


def _record(
    job_id: str, at: str, changes: Mapping[VertexId, Mapping[str, Any]], restart: timedelta | None
) -> ScalingRecord:
    instant = datetime.fromisoformat(at)
    return ScalingRecord(
        decision_id=f"reference/{job_id}/{at}",
        at=instant,
        before={vertex: change["before"] for vertex, change in changes.items()},
        after={vertex: change["after"] for vertex, change in changes.items()},
        reached_at=None if restart is None else instant + restart,
        restart=restart,
        metrics={vertex: change["metrics"] for vertex, change in changes.items()},
    )


def _instant(value: Any) -> datetime:
    at = _INSTANT.validate_python(value)
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
