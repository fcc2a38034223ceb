"""
A rescale that somebody orders to be taken back, as pure functions: which one it is, and why it may not be possible.

The order is noted in the state that takes it up, so that it is carried out at most once, whenever Headgate is killed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headgate.algorithm.rollback import foreign_change, run_of
from headgate.control.observation import Observation
from headgate.control.redeployment import Redeployment
from headgate.control.reports import parallelism_text
from headgate.control.rollback.judging import fresh
from headgate.control.rollback.reports import not_carried_out
from headgate.control.rollback.taking_back import rollback_id, taken_back
from headgate.control.rollback.trials import trial_of
from headgate.model.orders import Given
from headgate.model.rollback import Trial
from headgate.model.samples import JobSample
from headgate.model.state import JobState, ScalingRecord
from headgate.options.rollback import RollbackTarget
from headgate.ports import JobContext

EXPIRY = timedelta(minutes=15)
"""After which an order that nobody could take up is void: what it was given for may have passed."""

_DONE = "its last rescale was taken back already"
_UNDER_WAY = "its last rescale is being taken back already"


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a rollback on order needs to know beside the job's state."""

    history: Sequence[ScalingRecord]
    """Every rescale of the job that is known, oldest first."""
    redeployment: Redeployment
    may_act: bool
    """Whether anything may be changed of the job, pauses left aside."""


def must_wait(state: JobState, order: Given, now: datetime) -> bool:
    """Tell whether a redeploy is at work: it is finished first, for between stop and start nothing can be judged."""
    intent = state.intent
    is_half_done = intent is not None and intent.redeploy is not None and not intent.takes_back
    return is_half_done and now - order.at <= EXPIRY


def taken_up(seen: Observation, state: JobState, order: Given, now: datetime, around: Surroundings) -> JobState:
    """
    Give the state in which the order is about to be carried out, or is known to be impossible; it says so.

    The pause that follows a rollback ends by itself here: whoever orders can pause the job for longer.
    """
    if state.taken_up == order:
        return state
    ctx, state = seen.ctx, replace(state, taken_up=order)
    last = _last(seen, state, order, now, around)
    if isinstance(last, str):
        state = replace(state, outbox=(*state.outbox, not_carried_out(ctx.key, order, last, now)))
        return _hastened(state) if last == _UNDER_WAY else state
    pause = ctx.options.rollback.pause or ctx.options.rejection_expiry
    rollback = replace(ctx.options.rollback, target=RollbackTarget.LAST, pause=pause)
    ctx = replace(ctx, options=replace(ctx.options, rollback=rollback))
    state = taken_back(ctx, state, last, f"ordered by {order}", now, sample=seen.sample, note="")
    return _hastened(state)


def _hastened(state: JobState) -> JobState:
    """Let the rollback that is under way go over a pause: that may be what it waits for."""
    return replace(state, intent=replace(state.intent, ordered=True)) if state.intent else state


def _last(seen: Observation, state: JobState, order: Given, now: datetime, around: Surroundings) -> Trial | str:
    """Give the rescale to take back, or why there is none."""
    if now - order.at > EXPIRY:
        return f"nobody could within {EXPIRY.total_seconds() / 60:.0f} min"
    if not around.may_act:
        return "nothing of it may be changed: Headgate only advises here, or scaling is not enabled for it"
    if state.intent and state.intent.takes_back:
        return _UNDER_WAY
    if trial := trial_of(state):
        return _on_trial(seen, trial)
    return _from_history(seen, state, around)


def _on_trial(seen: Observation, trial: Trial) -> Trial | str:
    if trial.takes_back:
        return _DONE
    changed = foreign_change(trial, seen.ctx.job_id, seen.ctx.started_at, fresh(seen))
    return f"{changed} since its last rescale" if changed else trial


def _from_history(seen: Observation, state: JobState, around: Surroundings) -> Trial | str:
    sample, history = fresh(seen), around.history
    if not history:
        return "no rescale of it is known"
    last, ways_back = history[-1], {rollback_id(record.decision_id) for record in history}
    if last.decision_id in ways_back:
        return _DONE
    if sample is None:
        return f"the job is {seen.ctx.status}, and was well after its last rescale"
    running = sample.topology.parallelism
    if last.before.keys() - running.keys():
        return "its graph has changed since its last rescale"
    if any(running.get(vertex) != wanted for vertex, wanted in last.after.items()):
        return f"it runs at {parallelism_text(sample.topology, last.after)}, not as its last rescale left it"
    return _anew(seen.ctx, sample, state, last, around)


def _anew(ctx: JobContext, sample: JobSample, state: JobState, last: ScalingRecord, around: Surroundings) -> Trial:
    """Put a rescale on trial again that had proved good, as far as the history tells."""
    redeploy = around.redeployment.reversible(ctx, sample, state, last.before)
    present = run_of(sample, ctx.started_at, redeploy.before if redeploy else None)
    return Trial(
        decision_id=last.decision_id,
        began_at=last.at,
        before=replace(present, parallelism={**present.parallelism, **last.before}),
        after=last.after,
        reached_at=last.reached_at,
        job_id=sample.job_id,
        started_at=ctx.started_at,
        redeploy=redeploy,
    )
