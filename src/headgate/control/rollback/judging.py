"""What is done about a job that checkers condemn after a rescale, or that nobody condemns: as pure functions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from headgate.algorithm.permission import excluded_period
from headgate.algorithm.rollback import foreign_change, has_passed, is_paused, is_too_late
from headgate.control.observation import Observation
from headgate.control.rollback import reports
from headgate.control.rollback.taking_back import taken_back, with_started_at
from headgate.control.rollback.trials import concluded, trial_of, with_trial
from headgate.model.events import Event
from headgate.model.measures import JobStatus
from headgate.model.metrics import NotReady
from headgate.model.reasons import Reason
from headgate.model.rollback import Aftermath, Evidence, Trial
from headgate.model.samples import JobSample
from headgate.model.state import JobState
from headgate.ports import JobContext


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What becomes of a job's state by a verdict; what is asked of the engine is in it as an intent."""

    state: JobState
    obstacle: NotReady | None = None
    """What stands in the way of a new decision."""
    raises: bool = False
    """More memory is to be asked for, once the state is saved."""


def judge(seen: Observation, state: JobState, sick: Evidence | None, now: datetime, *, may_act: bool) -> Judged:
    """
    Take a rescale back, or say why not, or let it count as good.

    Args:
        seen: the job, with the aftermath of its rescale where there is one.
        state: as it was saved.
        sick: the evidence against the job, None for none.
        now: when the cycle began.
        may_act: whether anything may be changed.
    """
    ctx, aftermath = seen.ctx, seen.ctx.aftermath
    if sick is None:
        return Judged(state=_proved(seen, _well(state), now))
    if aftermath is None:
        return Judged(state=state, obstacle=unrecoverable(sick))
    trial = aftermath.trial
    if why_not := _not_ours(aftermath, ctx):
        event = reports.withheld(ctx.key, trial, sick, why_not, now)
        return Judged(state=_telling(concluded(state), event), obstacle=unrecoverable(sick))
    if trial.takes_back:
        event = reports.in_vain(ctx.key, trial, sick, now)
        # while its intent is open it may not even have been asked for
        return Judged(state=state) if state.intent else _told_once(state, trial, sick, event)
    if why_not := _forbidden(ctx, trial, now, may_act=may_act):
        return _told_once(state, trial, sick, reports.withheld(ctx.key, trial, sick, why_not, now))
    return _remedied(seen, state, trial, sick, now)


def _remedied(seen: Observation, state: JobState, trial: Trial, sick: Evidence, now: datetime) -> Judged:
    """Let more memory be tried first, where that is wanted; else take the rescale back."""
    raised_at = trial.memory_raised_at
    if seen.ctx.options.memory_tuning_enabled and raised_at is None:
        again = replace(trial, began_at=now, memory_raised_at=now, reached_at=None, down_since=None, ill_since=None)
        return Judged(state=with_trial(state, again), obstacle=unrecoverable(sick), raises=True)
    note = f"more memory since {raised_at:%H:%M:%S} UTC did not help" if raised_at else ""
    return rolled_back(seen, state, sick, note)


def rolled_back(seen: Observation, state: JobState, sick: Evidence, note: str) -> Judged:
    """Take the rescale back; `note` tells what was tried before, or why not."""
    ctx, aftermath = seen.ctx, seen.ctx.aftermath
    if aftermath is None:
        return Judged(state=state, obstacle=unrecoverable(sick))
    trial, now = aftermath.trial, aftermath.now
    state = taken_back(ctx, state, trial, sick, now, sample=seen.sample, note=note)
    message = f"decision {trial.decision_id} is taken back: {sick}"
    return Judged(state=state, obstacle=NotReady(reason=Reason.ROLLED_BACK, message=message))


def raised(seen: Observation, state: JobState, sick: Evidence) -> Judged:
    """Say that more memory was asked for: the rescale is observed anew."""
    ctx, aftermath = seen.ctx, seen.ctx.aftermath
    if aftermath is None:
        return Judged(state=state, obstacle=unrecoverable(sick))
    event = reports.memory_raised(ctx.key, aftermath.trial, sick, aftermath.now)
    why = NotReady(reason=Reason.JOB_UNRECOVERABLE, message=f"more memory was asked for: {sick}")
    return Judged(state=_telling(state, event), obstacle=why)


def unrecoverable(sick: Evidence) -> NotReady:
    """Say that nothing is decided for a job that will not recover by itself."""
    return NotReady(reason=Reason.JOB_UNRECOVERABLE, message=str(sick))


def pause(ctx: JobContext, state: JobState, now: datetime) -> tuple[JobState, NotReady | None]:
    """Give the state without a pause that is over, and what stands in the way while it is not."""
    rollback = state.rollback
    if rollback is None or state.intent is not None:
        return state, None
    rollback = with_started_at(rollback, ctx)
    if not is_paused(rollback, ctx.job_id, ctx.started_at, now):
        return replace(state, rollback=None), None
    message = (
        f"decision {rollback.decision_id} was taken back at {rollback.at:%Y-%m-%d %H:%M:%S} UTC, and nothing is scaled "
        f"{reports.pause_text(rollback)}: {rollback.why}"
    )
    return replace(state, rollback=rollback), NotReady(reason=Reason.ROLLED_BACK, message=message)


def fresh(seen: Observation) -> JobSample | None:
    """Give the sample of a job that runs now."""
    return seen.sample if seen.problem is None and seen.ctx.status is JobStatus.RUNNING else None


def _proved(seen: Observation, state: JobState, now: datetime) -> JobState:
    """End a trial that has lasted long enough, of a job that runs."""
    trial = trial_of(state)
    if trial is None or state.intent is not None or fresh(seen) is None:
        return state
    return concluded(state) if has_passed(trial, seen.ctx.options.rollback.observation, now) else state


def _not_ours(aftermath: Aftermath, ctx: JobContext) -> str:
    """Say why the rescale is not to blame; empty where it is."""
    if changed := foreign_change(aftermath.trial, ctx.job_id, ctx.started_at, None):
        return f"{changed} since then"
    if is_too_late(aftermath, ctx.options.rollback):
        return "it had run well for long enough before"
    return ""


def _forbidden(ctx: JobContext, trial: Trial, now: datetime, *, may_act: bool) -> str:
    """Say why a rescale may or can not be taken back; empty when it can."""
    options = ctx.options
    if ctx.status.is_over and trial.redeploy is None:
        return "it has ended, and nobody here can start it again"
    if not options.rollback.enabled:
        return "job.autoscaler.rollback.enabled is false"
    if not may_act:
        return "nothing of it may be changed"
    period = excluded_period(options, now)
    return f"nothing is changed in excluded.periods {period}" if period is not None else ""


def _told_once(state: JobState, trial: Trial, sick: Evidence, event: Event) -> Judged:
    if trial.told and trial.ill_since:
        return Judged(state=state, obstacle=unrecoverable(sick))
    told = with_trial(state, replace(trial, told=True, ill_since=trial.ill_since or event.at))
    return Judged(state=told if trial.told else _telling(told, event), obstacle=unrecoverable(sick))


def _well(state: JobState) -> JobState:
    """Note that the job is well: should it fall ill, it has done so then."""
    trial = trial_of(state)
    return with_trial(state, replace(trial, ill_since=None)) if trial and trial.ill_since else state


def _telling(state: JobState, event: Event) -> JobState:
    return replace(state, outbox=(*state.outbox, event))
