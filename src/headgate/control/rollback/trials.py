"""
The life of a trial, as pure functions: it begins with a rescale, and ends when that has proved good or is taken back.

A trial that belongs to an open intent is kept there until the engine is known to have taken it: it may have, before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from headgate.algorithm.rollback import descends, foreign_change, is_reached, run_of, unexpired
from headgate.control.observation import Observation
from headgate.model.identity import VertexId
from headgate.model.measures import JobStatus
from headgate.model.metrics import ScalingMetric
from headgate.model.redeploy import Redeploy
from headgate.model.rollback import JobFailure, Run, Trial
from headgate.model.samples import JobSample
from headgate.model.state import Intent, JobState
from headgate.ports import JobContext

Failures = tuple[JobFailure, ...]
"""Oldest first."""


def trial_of(state: JobState) -> Trial | None:
    """Give the rescale that is under observation, the one of the open intent before any other."""
    return state.intent.trial if state.intent and state.intent.trial else state.trial


def with_trial(state: JobState, trial: Trial) -> JobState:
    """Keep what was observed, where the trial is kept."""
    if state.intent and state.intent.trial:
        return replace(state, intent=replace(state.intent, trial=trial))
    return replace(state, trial=trial)


def on_trial(ctx: JobContext, state: JobState, sample: JobSample, *, began_at: datetime) -> JobState:
    """
    Give the state in which the open intent, about to be made real, is going to be observed.

    Where an earlier rescale has not proved good yet, the job was last well before that one.
    """
    intent = state.intent
    if intent is None:
        return state
    redeploy = intent.redeploy
    present = run_of(sample, ctx.started_at, redeploy.before if redeploy else None)
    earlier = _unproved(ctx, state, sample, redeploy)
    before = earlier.before if earlier else present
    wanted = {**(earlier.after if earlier else {}), **intent.after}
    trial = Trial(
        decision_id=intent.decision_id,
        began_at=began_at,
        before=before,
        after={vertex: n for vertex, n in wanted.items() if before.parallelism.get(vertex) != n},
        values=earlier.values if earlier else sample.values,
        demand={**_demand(intent), **(earlier.demand if earlier else {})},
        job_id=redeploy.successor if redeploy else sample.job_id,
        started_at=None if redeploy else ctx.started_at,
        redeploy=redeploy,
        well_until=earlier.well_until if earlier else began_at,
    )
    first = _first(state.first, present)
    if not trial.after:
        return replace(state, first=first, trial=None)  # back to where it was last well
    return replace(state, first=first, intent=replace(intent, trial=trial))


def _demand(intent: Intent) -> Mapping[VertexId, float]:
    target = ScalingMetric.TARGET_DATA_RATE
    return {vertex: known[target] for vertex, known in intent.metrics.items() if target in known}


def _unproved(ctx: JobContext, state: JobState, sample: JobSample, redeploy: Redeploy | None) -> Trial | None:
    """Give the earlier rescale, if nothing else has changed since, and the way back from both is the same."""
    trial = state.trial
    if trial is None or trial.takes_back or bool(trial.redeploy) != bool(redeploy):
        return None
    return None if foreign_change(trial, ctx.job_id, ctx.started_at, sample) else trial


def _first(first: Run | None, present: Run) -> Run:
    """Give the first run, under the present id of its job; the present one where the user has submitted another job."""
    if first is None or not descends(present.job_id, first.job_id):
        return present
    if first.job_id == present.job_id and first.fingerprint != present.fingerprint:
        return present
    return replace(first, job_id=present.job_id, start=first.start or present.start)


def observed(trial: Trial, seen: Observation, sample: JobSample | None, failures: Failures, now: datetime) -> Trial:
    """
    Note what is seen of a job now: that it runs as wanted, or since when it does not run.

    Args:
        trial: the rescale.
        seen: the job as it is listed, with its latest sample.
        sample: taken now; None while the job does not run.
        failures: since the rescale.
        now: when the cycle began.
    """
    ctx = seen.ctx
    if ctx.job_id != trial.runs_as:
        return trial
    trial = replace(trial, started_at=trial.started_at or ctx.started_at)
    if ctx.status is JobStatus.RUNNING:
        reached = trial.reached_at or (now if sample is not None and is_reached(trial, sample) else None)
        return replace(trial, reached_at=reached, down_since=None)
    return replace(trial, down_since=trial.down_since or _down_since(trial, seen, failures, now))


def _down_since(trial: Trial, seen: Observation, failures: Failures, now: datetime) -> datetime:
    """
    Give the instant of the latest failure, where nobody looked when the job went down.

    A job that was seen to run after that failure has got over it, and after an older one it may have.
    """
    if not failures or now - failures[-1].at > seen.ctx.options.rollback.restart_window / 3:
        return now
    ran_at = seen.sample.at if seen.sample and seen.sample.job_id == trial.runs_as else trial.began_at
    return min(now, max(failures[-1].at, ran_at, trial.reached_at or trial.began_at))


def aged(state: JobState, now: datetime) -> JobState:
    """Forget what made the job sick long ago."""
    kept = unexpired(state.bounds, now)
    return state if kept == state.bounds else replace(state, bounds=kept)


def concluded(state: JobState) -> JobState:
    """End the trial: the rescale has proved good, or nothing more is to be learned of it."""
    if state.intent and state.intent.trial:
        return replace(state, intent=replace(state.intent, trial=None))
    return replace(state, trial=None)
