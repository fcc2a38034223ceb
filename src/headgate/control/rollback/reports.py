"""The events of a rollback, one small maker each: who found what, with which numbers, and what was done."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from headgate.model.events import Event, EventReason, EventType
from headgate.model.identity import JobKey, VertexId
from headgate.model.orders import Given
from headgate.model.rollback import ParallelismBound, Rollback, Side, Trial
from headgate.ports import JobContext


def rolled_back(
    job: JobKey, trial: Trial, rollback: Rollback, bounds: tuple[ParallelismBound, ...], note: str
) -> Event:
    """Say what is taken back, why, where the job goes, and what holds afterwards."""
    parts = [
        f"takes back {_change_text(trial)} of {trial.began_at:%H:%M:%S} UTC: {rollback.why}",
        *([note] if note else []),
        f"the job goes back to {_parallelism_text(rollback.target)}",
        f"nothing is scaled {pause_text(rollback)}",
        *([bounds_text(bounds)] if bounds else []),
    ]
    return _of_decision(job, trial.decision_id, rollback.at, EventReason.ROLLBACK, "; ".join(parts))


def memory_raised(job: JobKey, trial: Trial, why: str, now: datetime) -> Event:
    """Say that the job gets more memory instead."""
    message = f"more memory is asked for instead of taking back {_change_text(trial)}: {why}"
    return _of_decision(job, trial.decision_id, now, EventReason.MEMORY_RAISED, message)


def withheld(job: JobKey, trial: Trial, evidence: str, why_not: str, now: datetime) -> Event:
    """Say that a job is sick after a rescale, and why that is not taken back."""
    message = f"the job is sick since {_change_text(trial)}, and is left alone, as {why_not}: {evidence}"
    return _of_decision(job, trial.decision_id, now, EventReason.ROLLBACK_WITHHELD, message)


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


def in_vain(job: JobKey, trial: Trial, evidence: str, now: datetime) -> Event:
    """Say that a job is still sick after its rollback: only people can help."""
    message = (
        f"the job is sick also after its rollback to {_parallelism_text(trial.after)}, and is left alone: {evidence}"
    )
    return _of_decision(job, trial.decision_id, now, EventReason.ROLLBACK_IN_VAIN, message)


def pause_text(rollback: Rollback) -> str:
    """Say how long nothing is scaled."""
    if rollback.paused_until is None:
        return "until the cluster is restarted"
    return f"until {rollback.paused_until:%Y-%m-%d %H:%M:%S} UTC"


def bounds_text(bounds: tuple[ParallelismBound, ...]) -> str:
    """Say what no decision goes beyond, and for how long."""
    sides = [f"{one.vertex} at {'most' if one.side is Side.BELOW else 'least'} {one.limit}" for one in bounds]
    return f"until {bounds[0].expires_at:%Y-%m-%d %H:%M:%S} UTC {', '.join(sides)}"


def _change_text(trial: Trial) -> str:
    """Name the change of each vertex."""
    before = trial.before.parallelism
    return ", ".join(f"{vertex} {before.get(vertex, '?')} -> {wanted}" for vertex, wanted in trial.after.items())


def _parallelism_text(parallelism: Mapping[VertexId, int]) -> str:
    return ", ".join(f"{vertex} {subtasks}" for vertex, subtasks in parallelism.items())


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
