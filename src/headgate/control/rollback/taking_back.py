"""
Taking a rescale back, as pure functions: the intent of it with all that holds afterwards, and how that intent ends.

Everything is one state, saved at once before anything is asked of the engine: from then on the rescale is not on trial
any more, so that it is taken back at most once whenever Headgate is killed.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import datetime, timedelta

from headgate.algorithm.rollback import bounds_of, changes, descends, differ, merged_bounds, sick_run, target_of
from headgate.control import reports
from headgate.control.intents import MAX_ATTEMPTS, Settlement, accepted, reached, time_to_reach
from headgate.control.rollback import reports as reports_of_rollbacks
from headgate.model.events import Event
from headgate.model.redeploy import Redeploy, successor_of
from headgate.model.rollback import Rollback, Run, Trial, Why
from headgate.model.samples import EngineSettings, JobSample
from headgate.model.state import Intent, JobState
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import JobContext


def taken_back(
    ctx: JobContext, state: JobState, trial: Trial, why: Why, now: datetime, *, sample: JobSample | None, note: str
) -> JobState:
    """
    Give the state in which a rescale is about to be taken back; it takes the place of an open intent.

    Args:
        ctx: the job.
        state: as it was saved.
        trial: the rescale.
        why: who says that the job is sick, with the numbers.
        now: when the cycle began.
        sample: the newest that was ever taken; None for none.
        note: what was tried or not tried instead; may be empty.
    """
    options = ctx.options
    state = accepted(ctx.key, state, now, options)  # whether the engine has said so or not, the job is sick by it
    target, sick = target_of(trial, state.first, options.rollback.target), sick_run(trial)
    intent = _way_back(trial, sick, target, now)
    intent = replace(intent, deadline=now + _time_limit(options, intent.redeploy, sample))
    own = _own_trial(intent, trial, sick)
    never_ran = trial.granted is False
    rollback = Rollback(
        decision_id=trial.decision_id,
        at=now,
        run=sick,
        target=intent.after,
        why=why,
        paused_until=_paused_until(options, now, never_ran=never_ran),
        job_id=own.job_id,
        started_at=own.started_at,
    )
    bounds = () if never_ran else bounds_of(trial, why, now + options.rollback.bound_expiry)
    event = reports_of_rollbacks.rolled_back(ctx.key, trial, rollback, bounds, note)
    return replace(
        state,
        intent=intent,
        trial=own,
        rollback=rollback,
        bounds=merged_bounds(state.bounds, bounds),
        first=replace(state.first, job_id=sick.job_id) if state.first else None,
        outbox=(*state.outbox, event),
    )


def _way_back(trial: Trial, sick: Run, target: Run, now: datetime) -> Intent:
    """Give the intent to go from the sick run to the target, its time to be set."""
    after = changes(sick.parallelism, target.parallelism)
    return Intent(
        decision_id=rollback_id(trial.decision_id),
        decided_at=now,
        job_id=sick.job_id,
        fingerprint=sick.fingerprint,
        before=sick.parallelism,
        after=after,
        names={vertex: sick.names[vertex] for vertex in after if vertex in sick.names},
        deadline=now,
        redeploy=_redeploy(trial, target),
        takes_back=trial.decision_id,
    )


def _paused_until(options: AutoscalerOptions, now: datetime, *, never_ran: bool) -> datetime | None:
    """Give the end of the pause; a wish that was never granted has harmed nobody, and may be granted another time."""
    pause = options.rejection_expiry if never_ran else options.rollback.pause
    return None if pause is None else now + pause


def rollback_id(decision_id: str) -> str:
    """Give the id of the decision that takes another one back: there is one, ever."""
    return hashlib.sha256(f"{decision_id}\ntaken back".encode()).hexdigest()[:12]


def _own_trial(intent: Intent, trial: Trial, sick: Run) -> Trial:
    """Give what is observed of the rollback itself."""
    redeploy = intent.redeploy
    return Trial(
        decision_id=intent.decision_id,
        began_at=intent.decided_at,
        before=sick,
        after=intent.after,
        job_id=redeploy.successor if redeploy else sick.job_id,
        started_at=None if redeploy else trial.started_at,
        redeploy=redeploy,
        takes_back=trial.decision_id,
    )


def _redeploy(trial: Trial, target: Run) -> Redeploy | None:
    sick, start = trial.redeploy, target.start
    if sick is None or start is None:
        return None
    # The configuration is that of the last good run, also where the parallelism is that of the first one.
    start = replace(start, overlay=sick.before.overlay)
    # Where its start fails it is tried again just so: never as the sick job was.
    return replace(sick, successor=successor_of(trial.runs_as), after=start, before=start)


def _time_limit(options: AutoscalerOptions, redeploy: Redeploy | None, sample: JobSample | None) -> timedelta:
    """Bound the time until the job runs again; one that fails over is asked to change between two attempts."""
    settings = sample.settings if sample else EngineSettings()
    limit = max(time_to_reach(settings, options.restart_time), options.rollback.never_running)
    launch = redeploy.launch if redeploy else None
    return limit + (launch.savepoint_limit + launch.start_limit if launch else timedelta())


def settle_rollback(
    ctx: JobContext, state: JobState, now: datetime, *, sample: JobSample | None, may_act: bool
) -> Settlement:
    """
    Carry a rollback in place one step further, whether the job runs or not.

    While it does not run only time tells; once it does, what runs. However old it is, it is still worth its request,
    and time counts only where the engine may have been asked: until then the job is as sick as it was.

    Args:
        ctx: the job.
        state: with the open intent.
        now: when the cycle began.
        sample: taken of the running job now; None while it does not run.
        may_act: False in advice mode, or in an excluded period: then the rollback waits, and is asked for later.
    """
    intent = state.intent
    if intent is None:
        return Settlement(state=state)
    if _is_another(ctx, state, sample):
        return _closed(state, reports.overtaken(ctx.key, intent, now))
    if sample is not None and _runs_so(sample, intent):
        return Settlement(state=reached(sample, state, intent, now, ctx.options))
    if now < intent.deadline or not may_act:
        request = may_act and intent.realized_at is None
        return Settlement(state=state, in_flight=True, request=request, regardless=True)
    return _late(ctx, state, intent, now, sample=sample)


def relinquished(ctx: JobContext, state: JobState, why: str, now: datetime) -> JobState:
    """Give the state after somebody else has changed the sick job first: no pause, no bounds, and nothing on trial."""
    intent, rollback = state.intent, state.rollback
    if intent is None or intent.takes_back is None:
        return state
    event = reports_of_rollbacks.relinquished(ctx.key, intent.takes_back, why, now)
    bounds = tuple(bound for bound in state.bounds if rollback is None or bound.why != rollback.why)
    outbox = (*state.outbox, event)
    return replace(state, intent=None, trial=None, rollback=None, bounds=bounds, outbox=outbox)


def _late(ctx: JobContext, state: JobState, intent: Intent, now: datetime, *, sample: JobSample | None) -> Settlement:
    attempts = intent.attempts + (intent.realized_at is not None)
    at = reports.parallelism_text(sample.topology, intent.after) if sample else ""
    why = f"runs at {at}" if sample else f"the job is {ctx.status}"
    if attempts >= MAX_ATTEMPTS or ctx.status.is_over:
        return _closed(state, reports.not_reached(ctx.key, intent, why, now, timedelta()))
    deadline = now + _time_limit(ctx.options, None, sample)
    repeated = replace(intent, attempts=attempts, deadline=deadline, realized_at=None)
    event = reports.late(ctx.key, intent, why, now, deadline)
    state = replace(state, intent=repeated, outbox=(*state.outbox, event))
    return Settlement(state=state, in_flight=True, request=True, regardless=True)


def _closed(state: JobState, event: Event) -> Settlement:
    return Settlement(state=replace(state, intent=None, outbox=(*state.outbox, event)))


def _is_another(ctx: JobContext, state: JobState, sample: JobSample | None) -> bool:
    """Tell whether the job is no longer the one that was sick."""
    intent, rollback = state.intent, state.rollback
    if intent is None or ctx.job_id != intent.job_id:
        return True
    if rollback is not None and differ(rollback.started_at, ctx.started_at):
        return True
    return sample is not None and sample.topology.fingerprint != intent.fingerprint


def _runs_so(sample: JobSample, intent: Intent) -> bool:
    running = sample.topology.parallelism
    return all(running.get(vertex) == wanted for vertex, wanted in intent.after.items())


def with_started_at(rollback: Rollback, ctx: JobContext) -> Rollback:
    """Note since when the engine has the job that was gone back to, where a redeploy has started it."""
    redeployed = ctx.job_id != rollback.run.job_id and descends(ctx.job_id, rollback.run.job_id)
    if rollback.started_at is None and redeployed:
        return replace(rollback, started_at=ctx.started_at)
    return rollback
