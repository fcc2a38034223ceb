"""The events of a rollback, one small maker each: who found what, with which numbers, and what was done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from headgate.control.reports import changes_text
from headgate.model.events import Event, EventReason, EventType
from headgate.model.identity import JobKey, VertexId
from headgate.model.orders import Given
from headgate.model.rollback import Evidence, ParallelismBound, Rollback, Side, Trial
from headgate.ports import JobContext

Names = Mapping[VertexId, str]
"""What people call vertices; one that is not in it is called by its id."""


def rolled_back(
    job: JobKey, trial: Trial, rollback: Rollback, bounds: tuple[ParallelismBound, ...], note: str
) -> Event:
    """Say what is taken back, why, where the job goes, and what holds afterwards."""
    parts = [
        f"takes back {_change_text(trial)} of {trial.began_at:%H:%M:%S} UTC: {rollback.why}",
        *([note] if note else []),
        f"the job goes back to {_parallelism_text(rollback.target, trial.before.names)}",
        f"nothing is scaled {pause_text(rollback)}",
        *([bounds_text(bounds, trial.before.names)] if bounds else []),
    ]
    return _of_trial(job, trial, rollback.at, EventReason.ROLLBACK, "; ".join(parts))


def memory_raised(job: JobKey, trial: Trial, why: Evidence, now: datetime) -> Event:
    """Say that the job gets more memory instead."""
    message = f"more memory is asked for instead of taking back {_change_text(trial)}: {why}"
    return _of_trial(job, trial, now, EventReason.MEMORY_RAISED, message)


def withheld(job: JobKey, trial: Trial, evidence: Evidence, why_not: str, now: datetime) -> Event:
    """Say that a job is sick after a rescale, and why that is not taken back."""
    message = f"the job is sick since {_change_text(trial)}, and is left alone, as {why_not}: {evidence}"
    return _of_trial(job, trial, now, EventReason.ROLLBACK_WITHHELD, message)


def relinquished(job: JobKey, decision_id: str, why: str, now: datetime) -> Event:
    """Say that a rescale is not taken back after all, as its job is somebody else's by now."""
    message = f"decision {decision_id} is not taken back, and the job is left alone: {why}"
    return _of_decision(job, decision_id, now, EventReason.ROLLBACK_WITHHELD, message)


def failures_unknown(ctx: JobContext, why: str, now: datetime) -> Event:
    """Say that a rescale is judged without the job's failures in this cycle."""
    message = f"the job's failures are not known, and its last rescale is judged without them: {why}"
    return Event(
        at=now,
        type=EventType.WARNING,
        reason=EventReason.AUTOSCALER_ERROR,
        message=message,
        key=f"{ctx.key}:failures:{why}",
        subject=ctx.key,
        merge_interval=ctx.options.scaling_event_interval,
    )


def not_carried_out(job: JobKey, order: Given, why: str, now: datetime) -> Event:
    """Say that there is nothing to take back, or that it may not be."""
    message = f"the last rescale is not taken back, as ordered by {order}; the job is left as it is: {why}"
    return Event(
        at=now,
        type=EventType.WARNING,
        reason=EventReason.ROLLBACK_WITHHELD,
        message=message,
        key=f"{job}:{order.at.isoformat()}:{EventReason.ROLLBACK_WITHHELD}",
        subject=job,
    )


def in_vain(job: JobKey, trial: Trial, evidence: Evidence, now: datetime) -> Event:
    """Say that a job is still sick after its rollback: only people can help."""
    back_to = _parallelism_text(trial.after, trial.before.names)
    message = f"the job is sick also after its rollback to {back_to}, and is left alone: {evidence}"
    return _of_trial(job, trial, now, EventReason.ROLLBACK_IN_VAIN, message)


def pause_text(rollback: Rollback) -> str:
    """Say how long nothing is scaled."""
    if rollback.paused_until is None:
        return "until the cluster is restarted"
    return f"until {rollback.paused_until:%Y-%m-%d %H:%M:%S} UTC"


def bounds_text(bounds: tuple[ParallelismBound, ...], names: Names) -> str:
    """Say what no decision goes beyond, and for how long."""
    sides = [
        f"{names.get(one.vertex, one.vertex)} at {'most' if one.side is Side.BELOW else 'least'} {one.limit}"
        for one in bounds
    ]
    return f"until {bounds[0].expires_at:%Y-%m-%d %H:%M:%S} UTC {', '.join(sides)}"


def _change_text(trial: Trial) -> str:
    return changes_text(trial.before.parallelism, trial.after, trial.before.names)


def _parallelism_text(parallelism: Mapping[VertexId, int], names: Names) -> str:
    return ", ".join(f"{names.get(vertex, vertex)} {subtasks}" for vertex, subtasks in parallelism.items())


def _of_trial(job: JobKey, trial: Trial, now: datetime, reason: EventReason, message: str) -> Event:
    event = _of_decision(job, trial.decision_id, now, reason, message)
    vertices = changes_text(trial.before.parallelism, trial.after)
    return replace(event, fields={**event.fields, "vertices": vertices})


def _of_decision(job: JobKey, decision_id: str, now: datetime, reason: EventReason, message: str) -> Event:
    return Event(
        at=now,
        type=EventType.WARNING,
        reason=reason,
        message=message,
        key=f"{job}:{decision_id}:{reason}",
        subject=job,
        fields={"decision": decision_id},
    )
