"""A pause that somebody has ordered: what becomes of a decision under it, and who is told when it begins and ends."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from headgate.model.decision import Decision, Outcome
from headgate.model.events import Event, EventReason, EventType
from headgate.model.identity import JobKey
from headgate.model.orders import Given
from headgate.model.reasons import Reason
from headgate.model.state import JobState
from headgate.ports import JobContext


def told_of_pause(ctx: JobContext, state: JobState, now: datetime) -> JobState:
    """Give the state in which the job's present pause, or its end, is told: once, whoever looks after the job."""
    pause = ctx.orders.pause
    if pause == state.paused:
        return state
    event = _paused(ctx.key, pause, now) if pause else _resumed(ctx.key, state.paused, now)
    return replace(state, paused=pause, outbox=(*state.outbox, event))


def paused(decision: Decision, pause: Given) -> Decision:
    """Give a decision that changes nothing, with the numbers of the one that would have been made."""
    outcome = Outcome.NOT_READY if decision.outcome is Outcome.NOT_READY else Outcome.KEEP
    message = f"paused by {pause}; without that: {decision.message}"
    return replace(decision, outcome=outcome, reason=Reason.PAUSED, message=message, acts=False)


def _paused(job: JobKey, pause: Given, now: datetime) -> Event:
    message = f"paused by {pause}; nothing of it is changed until somebody resumes it"
    return _event(job, EventReason.PAUSED, message, now, since=pause)


def _resumed(job: JobKey, pause: Given | None, now: datetime) -> Event:
    message = f"resumed; it was paused by {pause}"
    return _event(job, EventReason.RESUMED, message, now, since=pause)


def _event(job: JobKey, reason: EventReason, message: str, now: datetime, *, since: Given | None) -> Event:
    began = since.at.isoformat() if since else ""
    return Event(
        at=now,
        type=EventType.NORMAL,
        reason=reason,
        message=message,
        key=f"{job}:{reason}:{began}",
        subject=job,
    )
