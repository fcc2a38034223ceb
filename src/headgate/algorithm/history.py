"""What past rescales of a job tell: each vertex's own history, and how long a restart takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeVar

from headgate.algorithm.rules import Rules
from headgate.model.identity import VertexId
from headgate.model.metrics import ScalingMetric
from headgate.model.state import JobState, ScalingRecord
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Deviation

History = Sequence[ScalingRecord]
"""Rescales of a job, oldest first."""

Value = TypeVar("Value")

Growth = tuple[float, float]
"""True rate before a growth and the one expected of it, records/s, each NaN when unknown."""

_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling:
    """One rescale of one vertex."""

    before: int
    after: int
    metrics: Mapping[ScalingMetric, float]
    """The vertex's evaluated metrics when it was decided."""

    def rate(self, metric: ScalingMetric) -> float:
        """Give one of its rates, records/s; NaN when it is not known."""
        return self.metrics.get(metric, float("nan"))


def scalings_of(vertex: VertexId, history: History) -> tuple[Scaling, ...]:
    """Give the rescales of one vertex, oldest first."""
    return tuple(
        Scaling(before=record.before[vertex], after=record.after[vertex], metrics=record.metrics.get(vertex, {}))
        for record in history
        if vertex in record.after
    )


def newest_scalings(history: History) -> Mapping[VertexId, Scaling]:
    """Give the newest rescale of each vertex that ever had one."""
    return {vertex: scalings_of(vertex, history)[-1] for record in history for vertex in record.after}


def growths(history: History, running: Mapping[VertexId, int]) -> Mapping[VertexId, Growth]:
    """Give of each vertex its newest rescale, if that was a growth to the running parallelism."""
    newest = newest_scalings(history).items()
    return {vertex: growth for vertex, last in newest if (growth := growth_to(running.get(vertex), last))}


def growth_to(running: int | None, last: Scaling | None) -> Growth | None:
    """Give the true rate before the last rescale and the one expected, if it was a growth to what runs now."""
    if last is None or last.after != running or last.after <= last.before:
        return None
    return last.rate(ScalingMetric.TRUE_PROCESSING_RATE), last.rate(ScalingMetric.EXPECTED_PROCESSING_RATE)


def aged(state: JobState, now: datetime, options: AutoscalerOptions) -> JobState:
    """Give the state without what is too old to count, or too long ago."""
    kept = trimmed(state.history, now, options)
    return state if kept == state.history else replace(state, history=kept)


def trimmed(history: History, now: datetime, options: AutoscalerOptions) -> tuple[ScalingRecord, ...]:
    """
    Keep of each vertex its newest rescales and of the job its newest restarts, as many and as old as the options allow.

    A rescale just as old as allowed stays; the newest one always does, for its restart may still be measured. Its
    vertices that have newer ones enough drop out of it. Source: the reference's `ScalingHistoryUtils`.
    """
    seen: Counter[VertexId] = Counter()
    kept: list[ScalingRecord] = []
    for place, record in enumerate(reversed(history)):
        is_young = record.at >= now - options.history_max_age
        vertices = {vertex for vertex in record.after if is_young and seen[vertex] < options.history_max_count}
        seen.update(vertices)
        if vertices or place == 0 or (is_young and place < options.history_max_count):
            kept.append(_only(record, vertices))
    return tuple(reversed(kept))


def restart_time(options: AutoscalerOptions, history: History) -> timedelta:
    """
    Give how long a rescale is to be expected to stop the job, in whole seconds where it was measured.

    The longest measured restart, up to its limit, where tracking is on and something was measured; else the option.
    Source: the reference's `ScalingTracking`.
    """
    measured = [record.restart for record in history if record.restart is not None and record.restart >= timedelta()]
    if not options.restart_time_tracking_enabled or not measured:
        return options.restart_time
    return min(max(measured) // _SECOND * _SECOND, options.restart_time_tracking_limit)


def with_restart(
    history: History, running: Mapping[VertexId, int], running_since: datetime, seen_at: datetime, rules: Rules
) -> tuple[ScalingRecord, ...]:
    """
    Note on the newest rescale how long it took, once all that it changed runs at its target.

    That is until the job was running again. A job that was rescaled in place may have been running since before; then
    the time until it was seen counts. Source: the reference's `ScalingTracking`.

    Args:
        history: oldest first; what is known already stays.
        running: parallelism of every vertex now.
        running_since: when the job last became running.
        seen_at: now.
        rules: without `POSITIVE_RESTARTS` the duration may be negative.
    """
    if not history or history[-1].restart is not None:
        return tuple(history)
    newest = history[-1]
    if any(running.get(vertex) != wanted for vertex, wanted in newest.after.items()):
        return tuple(history)
    in_place = running_since < newest.at and Deviation.POSITIVE_RESTARTS in rules
    restart = (seen_at if in_place else running_since) - newest.at
    return (*history[:-1], replace(newest, restart=restart))


def _only(record: ScalingRecord, vertices: set[VertexId]) -> ScalingRecord:
    return replace(
        record,
        before=_among(vertices, record.before),
        after=_among(vertices, record.after),
        metrics=_among(vertices, record.metrics),
    )


def _among(vertices: set[VertexId], values: Mapping[VertexId, Value]) -> Mapping[VertexId, Value]:
    return {vertex: value for vertex, value in values.items() if vertex in vertices}
