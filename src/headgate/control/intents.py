"""
The life of an intent, as pure functions: a change is saved before it is made and stays open until it is seen to hold.

Verifying is state across cycles, never a wait. An intent found after a restart takes the same way as any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headgate.algorithm.history import trimmed, with_restart
from headgate.algorithm.rules import rules_of
from headgate.control import reports
from headgate.model.decision import Decision
from headgate.model.events import Event
from headgate.model.identity import JobKey, VertexId
from headgate.model.metrics import NotReady, ScalingMetric
from headgate.model.redeploy import Redeploy
from headgate.model.rollback import Trial
from headgate.model.samples import EngineSettings, JobSample
from headgate.model.state import Intent, JobState, Rejection, ScalingRecord
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.reactive import ExecutionMode

MAX_ATTEMPTS = 2
"""How often the engine is asked for the same parallelism before it counts as not reachable."""

MAX_NEGLECT = timedelta(minutes=10)
"""How long after its deadline an intent that nobody looked after is still worth a second request."""

_LEAST_TIME_TO_REACH = timedelta(seconds=10)


def time_to_reach(settings: EngineSettings, restart_time: timedelta) -> timedelta:
    """
    Bound the time from a request to the new parallelism, from the engine's own settings.

    Flink's adaptive scheduler waits for its cooldown, for the slots to be stable, and for the next completed
    checkpoint (one may have just begun, hence two intervals), and then restarts the job.
    """
    checkpoints = 2 * (settings.checkpoint_interval_s or 0.0)
    waits = checkpoints + settings.rescale_cooldown_s + settings.resource_stabilization_s
    return max(timedelta(seconds=waits) + restart_time, _LEAST_TIME_TO_REACH)


def open_intent(
    state: JobState,
    decision: Decision,
    sample: JobSample,
    options: AutoscalerOptions,
    *,
    late: timedelta,
    redeploy: Redeploy | None = None,
) -> JobState:
    """
    Give the state in which the decision is about to be made real, its report waiting to be sent.

    The engine is only asked `late` after the decision's own instant, and its time to obey begins then.
    """
    intent = Intent(
        decision_id=decision.id,
        decided_at=decision.at,
        job_id=sample.job_id,
        fingerprint=decision.fingerprint,
        before=sample.topology.parallelism,
        after=_wanted(decision),
        deadline=decision.at
        + late
        + time_to_reach(sample.settings, options.restart_time)
        + _time_for_slots(sample.settings, options, is_growth=_grows(sample.topology.parallelism, _wanted(decision)))
        + _time_to_redeploy(redeploy),
        metrics=metrics_at(decision),
        redeploy=redeploy,
        names={vertex: change.name for vertex, change in decision.changes.items()},
    )
    report = reports.scaling_report(decision, options.scaling_event_interval)
    return replace(state, intent=intent, outbox=(*state.outbox, report))


def _time_for_slots(settings: EngineSettings, options: AutoscalerOptions, *, is_growth: bool) -> timedelta:
    """Give how long a reactive job that grows may wait for slots of which another job lets go meanwhile."""
    awaits = is_growth and options.execution_mode is ExecutionMode.REACTIVE
    return timedelta(seconds=settings.slot_idle_s) if awaits else timedelta()


def _grows(before: Mapping[VertexId, int], after: Mapping[VertexId, int]) -> bool:
    return any(wanted > before.get(vertex, wanted) for vertex, wanted in after.items())


def _time_to_redeploy(redeploy: Redeploy | None) -> timedelta:
    launch = redeploy.launch if redeploy else None
    return launch.savepoint_limit + launch.start_limit if launch else timedelta()


def accepted(job: JobKey, state: JobState, at: datetime, options: AutoscalerOptions, *, sent: bool = False) -> JobState:
    """
    Give the state after the engine took the request: it is part of the job's history, and all delays begin anew.

    It is told once, and again where something was `sent` again. Who sent it may have died before it could tell: then
    nothing is sent now, and it is told all the same.
    """
    if state.intent is None or state.intent.realized_at is not None:
        return state
    intent = replace(state.intent, realized_at=at, trial=None)
    known = any(record.decision_id == intent.decision_id for record in state.history)
    told = (reports.requested(job, intent, at),) if sent or not known else ()
    state = replace(state, intent=intent, outbox=(*state.outbox, *told), trial=state.intent.trial or state.trial)
    if known:
        return state
    record = ScalingRecord(
        decision_id=intent.decision_id,
        at=intent.decided_at,
        before=intent.before,
        after=intent.after,
        metrics=intent.metrics,
    )
    return replace(state, history=trimmed((*state.history, record), at, options), delayed={})


def metrics_at(decision: Decision) -> Mapping[VertexId, Mapping[ScalingMetric, float]]:
    """Give what was known of each changing vertex, and the true rate to be had at what it is changed to."""
    known = decision.evaluated.vertices if decision.evaluated else {}
    metrics = {vertex: dict(known[vertex].metrics) for vertex in decision.changes if vertex in known}
    for vertex, of_vertex in metrics.items():
        change = decision.changes[vertex]
        rate = of_vertex.get(ScalingMetric.TRUE_PROCESSING_RATE)
        if rate is not None:
            # Not the policies' own expectation: that is of the wish, and what is granted late may be another one.
            of_vertex[ScalingMetric.EXPECTED_PROCESSING_RATE] = change.rate_at_wanted(rate)
    return metrics


def refused(job: JobKey, state: JobState, why: str, at: datetime, options: AutoscalerOptions) -> JobState:
    """Give the state after the engine said no: the intent is closed, the parallelism remembered as rejected."""
    if state.intent is None:
        return state
    event = reports.not_reached(job, state.intent, f"the engine refused: {why}", at, options.rejection_expiry)
    if state.intent.redeploy:
        # It was taken up, and came to nothing: the job never ran so.
        made = tuple(record for record in state.history if record.decision_id != state.intent.decision_id)
        state = replace(state, history=made, trial=_other_trial(state))
    return rejected(state, why, at, options, event)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """What becomes of an open intent in one cycle."""

    state: JobState
    in_flight: bool = False
    """Nothing new may be decided."""
    request: bool = False
    """The engine is to be asked (again) for the intent's parallelism."""
    regardless: bool = False
    """Also while the job is not seen running."""


def settle(
    sample: JobSample,
    state: JobState,
    options: AutoscalerOptions,
    now: datetime,
    *,
    may_act: bool,
    problem: NotReady | None = None,
) -> Settlement:
    """
    Hold an open intent against the running job: reached, overtaken, still under way, or late.

    Args:
        sample: the job's latest.
        state: as it was saved.
        options: the job's.
        now: when the cycle began.
        may_act: False in advice mode: then nothing is asked of the engine, not even what was decided before.
        problem: why the job is not seen running now. The sample then is an old one: only time can still tell.
    """
    state = replace(state, rejections=tuple(r for r in state.rejections if r.expires_at > now))
    intent = state.intent
    if intent is None:
        return Settlement(state=state)
    if event := _end_of(intent, sample, now, may_act=may_act, seen=problem is None):
        state = replace(state, trial=intent.trial or state.trial)  # the engine may have taken it
        return Settlement(state=replace(state, intent=None, outbox=(*state.outbox, event)))
    if problem is None and _runs_at(sample, intent.after):
        return Settlement(state=reached(sample, state, intent, now, options))
    if now < intent.deadline:
        return Settlement(state=state, in_flight=True, request=problem is None and intent.realized_at is None)
    why = problem.message if problem else f"runs at {reports.parallelism_text(sample.topology, intent.after)}"
    return _late(sample, state, options, now, why=why, repeat=may_act)


def rejection_of(state: JobState, decision: Decision, now: datetime) -> Rejection | None:
    """Find the unexpired rejection of exactly these changes."""
    return next((r for r in state.rejections if r.expires_at > now and dict(r.after) == _wanted(decision)), None)


def _wanted(decision: Decision) -> dict[VertexId, int]:
    return {vertex: change.wanted for vertex, change in decision.changes.items()}


def _runs_at(sample: JobSample, parallelism: Mapping[VertexId, int]) -> bool:
    running = sample.topology.parallelism
    return all(running.get(vertex) == wanted for vertex, wanted in parallelism.items())


def reached(sample: JobSample, state: JobState, intent: Intent, now: datetime, options: AutoscalerOptions) -> JobState:
    """Give the state after the job was seen to run as the intent wants."""
    state = accepted(sample.job, state, now, options)
    history = tuple(
        replace(record, reached_at=now) if record.decision_id == intent.decision_id else record
        for record in state.history
    )
    if not sample.settings.shared_workers:  # nothing restarts where workers come and go
        running, since = sample.topology.parallelism, sample.running_since
        history = with_restart(history, running, since, now, rules_of(options))
    event = reports.reached(sample.job, intent, now, sample.running_since)
    return replace(state, intent=None, history=history, outbox=(*state.outbox, event))


def _end_of(intent: Intent, sample: JobSample, now: datetime, *, may_act: bool, seen: bool) -> Event | None:
    """Tell why an intent ends without having been reached or given up, if it does."""
    if not may_act and intent.realized_at is None:
        return reports.withdrawn(sample.job, intent, now)
    if now - intent.deadline > MAX_NEGLECT:
        return reports.outdated(sample.job, intent, now)
    other = sample.topology.fingerprint != intent.fingerprint or sample.job_id != intent.job_id
    return reports.overtaken(sample.job, intent, now) if seen and (other or _is_elsewhere(sample, intent)) else None


def _is_elsewhere(sample: JobSample, intent: Intent) -> bool:
    """Tell whether a vertex runs at a parallelism that is not on the way: somebody else has changed it."""
    running = sample.topology.parallelism
    return any(
        not min(intent.before[vertex], wanted) <= running[vertex] <= max(intent.before[vertex], wanted)
        for vertex, wanted in intent.after.items()
    )


def _late(
    sample: JobSample, state: JobState, options: AutoscalerOptions, now: datetime, *, why: str, repeat: bool
) -> Settlement:
    intent = state.intent
    if intent is None:
        return Settlement(state=state)
    attempts, is_growth = intent.attempts + 1, _grows(intent.before, intent.after)
    if attempts >= MAX_ATTEMPTS or not repeat:
        options = _expecting_slots(options, is_growth=is_growth)
        event = reports.not_reached(sample.job, intent, why, now, options.rejection_expiry)
        state = replace(state, trial=intent.trial or state.trial)
        return Settlement(state=rejected(state, why, now, options, event))
    patience = time_to_reach(sample.settings, options.restart_time)
    deadline = now + patience + _time_for_slots(sample.settings, options, is_growth=is_growth)
    # Not known to be accepted any more: it is asked for as soon as the job is there to be asked for.
    repeated = replace(intent, attempts=attempts, deadline=deadline, realized_at=None)
    event = reports.late(sample.job, intent, why, now, deadline)
    state = replace(state, intent=repeated, outbox=(*state.outbox, event))
    return Settlement(state=state, in_flight=True, request=True)


def _expecting_slots(options: AutoscalerOptions, *, is_growth: bool) -> AutoscalerOptions:
    """Let a reactive job's growth be tried again soon: that slots were late says nothing of the next ones."""
    if not is_growth or options.execution_mode is not ExecutionMode.REACTIVE:
        return options
    expiry = min(options.rejection_expiry, options.reactive.resource_stabilization)
    return replace(options, rejection_expiry=expiry)


def rejected(state: JobState, why: str, at: datetime, options: AutoscalerOptions, event: Event) -> JobState:
    """Give the state without its intent, whose parallelism is remembered as one that cannot be had."""
    if state.intent is None:
        return state
    closed = replace(state, intent=None, outbox=(*state.outbox, event))
    if state.intent.takes_back:
        return closed  # where the job was well it may go another time
    rejection = Rejection(after=state.intent.after, expires_at=at + options.rejection_expiry, why=why)
    return replace(closed, rejections=(*state.rejections, rejection))


def _other_trial(state: JobState) -> Trial | None:
    """Give the trial unless it is of a rescale that never came about; a rollback stays the last that was tried."""
    trial, intent = state.trial, state.intent
    if trial is None or intent is None or trial.takes_back:
        return trial
    return None if trial.decision_id == intent.decision_id else trial
