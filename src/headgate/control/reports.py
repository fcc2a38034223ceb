"""The events of the control loop, one small maker each: text, fields and the key under which repetitions merge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from types import MappingProxyType

from headgate.algorithm.report import entries
from headgate.algorithm.wording import span
from headgate.errors import PluginError
from headgate.model.decision import Decision, Notice
from headgate.model.events import Event, EventReason, EventType
from headgate.model.identity import JobKey, VertexId
from headgate.model.state import Intent
from headgate.model.topology import Topology
from headgate.plugins.reports import plugin_failed

NAMELESS: Mapping[VertexId, str] = MappingProxyType({})
DEFAULT_INTERVAL = timedelta(minutes=30)
"""Within which equal events of the fleet as a whole are one."""


def scaling_report(decision: Decision, interval: timedelta) -> Event:
    """
    Report a rescale, or what it would be.

    Advice is merged while it stays the same; a rescale that is made is always an event of its own.
    """
    changed = decision.changes.items()
    changes = changes_text({vertex: p.current for vertex, p in changed}, {vertex: p.wanted for vertex, p in changed})
    header = "rescaling" if decision.acts else "advice (nothing is changed)"
    return Event(
        at=decision.at,
        type=EventType.NORMAL,
        reason=EventReason.SCALING_REPORT,
        message=f"{header}: {decision.message} {' '.join(map(str, entries(decision)))}",
        key=f"{decision.job}:{decision.id}" if decision.acts else f"{decision.job}:advice:{changes}",
        subject=decision.job,
        fields={"decision": decision.id, "acts": int(decision.acts), "vertices": changes},
        merge_interval=None if decision.acts else interval,
    )


def requested(job: JobKey, intent: Intent, now: datetime) -> Event:
    """Say what the engine was asked for."""
    message = f"asked the engine for {changes_text(intent.before, intent.after, intent.names)}"
    event = _of_intent(job, intent, now, EventReason.SCALING, message, step=f"asked:{intent.attempts}")
    return replace(event, fields={**event.fields, "vertices": changes_text(intent.before, intent.after)})


def deferred(job: JobKey, decision: Decision, why: str) -> Event:
    """Say that a change of the configuration waits."""
    return Event(
        at=decision.at,
        type=EventType.NORMAL,
        reason=EventReason.CONFIGURATION_DEFERRED,
        message=f"waits for the next start of the job: {', '.join(decision.config.entries)}; {why}",
        key=f"{job}:{decision.id}:deferred",
        subject=job,
        fields={"decision": decision.id},
    )


def noticed(notice: Notice, decision: Decision, interval: timedelta) -> Event:
    """Make an event of what a decision noticed on its way."""
    return Event(
        at=decision.at,
        type=notice.type,
        reason=notice.reason,
        message=notice.message,
        key=f"{decision.job}:{notice.key}",
        subject=decision.job,
        fields=notice.fields,
        merge_interval=interval,
    )


def reached(job: JobKey, intent: Intent, now: datetime, running_since: datetime) -> Event:
    """
    Say that the job runs at what was decided, and since when by the engine's own time.

    One no later than the decision is of the run before, one after this instant by another clock: it was seen now.
    """
    is_told = intent.decided_at < running_since <= now
    took = ((running_since if is_told else now) - intent.decided_at).total_seconds()
    message = f"the new parallelism {'began to run' if is_told else 'was seen running'} {took:.1f} s after the decision"
    event = _of_intent(job, intent, now, EventReason.RESCALE_REACHED, message, step="reached")
    return replace(event, fields={**event.fields, "took_s": took})


def late(job: JobKey, intent: Intent, why: str, now: datetime, deadline: datetime) -> Event:
    """Say that the target was not reached in time, and until when it is tried once more."""
    message = (
        f"not at its new parallelism after {_since(intent, now)}: {why}; tried again until {deadline:%H:%M:%S} UTC"
    )
    return _of_intent(job, intent, now, EventReason.RESCALE_NOT_REACHED, message, step=f"late:{intent.attempts}")


def slow(job: JobKey, intent: Intent, now: datetime) -> Event:
    """Say that a redeploy takes longer than it may, and is waited for all the same."""
    message = f"the redeploy is not over after {_since(intent, now)}; it is waited for, as nobody can take it back"
    return _of_intent(job, intent, now, EventReason.RESCALE_NOT_REACHED, message, step="slow")


def not_reached(job: JobKey, intent: Intent, why: str, now: datetime, expiry: timedelta) -> Event:
    """Say that the target was given up, and for how long it is not tried again."""
    message = (
        f"gave up the new parallelism after {_since(intent, now)}: {why}; "
        f"the same is not asked for again before {now + expiry:%H:%M:%S} UTC"
    )
    return _of_intent(job, intent, now, EventReason.RESCALE_NOT_REACHED, message, step="given-up")


def overtaken(job: JobKey, intent: Intent, now: datetime) -> Event:
    """Say that an open change was closed because the job is no longer the one that was decided on."""
    return _recovered(job, intent, now, "the job was resubmitted, or somebody else has changed it since")


def outdated(job: JobKey, intent: Intent, now: datetime) -> Event:
    """Say that an open change was closed because nobody looked after it for too long."""
    return _recovered(job, intent, now, "it is too old to be carried out without looking at the job anew")


def withdrawn(job: JobKey, intent: Intent, now: datetime) -> Event:
    """Say that an open change was closed because Headgate may no longer act on the job."""
    return _recovered(job, intent, now, "the engine had not confirmed it, and nothing may be changed any more")


def unrecoverable(job: JobKey, evidence: str, now: datetime, interval: timedelta) -> Event:
    """Say that a job will not recover by itself, by whose evidence; while that is so it is one event."""
    return Event(
        at=now,
        type=EventType.WARNING,
        reason=EventReason.JOB_UNRECOVERABLE,
        message=f"{evidence}; nothing is scaled while that is so",
        key=f"{job}:unrecoverable",
        subject=job,
        merge_interval=interval,
    )


def job_error(job: JobKey, error: BaseException, now: datetime, interval: timedelta) -> Event:
    """Say that one job's cycle failed; the same failure is one event within the interval."""
    if isinstance(error, PluginError):
        return plugin_failed(job, error, now, interval)
    text = str(error) or type(error).__name__
    return Event(
        at=now,
        type=EventType.WARNING,
        reason=EventReason.AUTOSCALER_ERROR,
        message=text,
        key=f"{job}:error:{type(error).__name__}:{text}",
        subject=job,
        merge_interval=interval,
    )


def fleet_error(what: str, why: str, now: datetime) -> Event:
    """Say that something all jobs share failed in this cycle."""
    return Event(
        at=now,
        type=EventType.WARNING,
        reason=EventReason.AUTOSCALER_ERROR,
        message=f"{what}: {why}",
        key=f"fleet:{what}",
        subject="headgate",
        merge_interval=DEFAULT_INTERVAL,
    )


def jobs_divided(others: Sequence[str], now: datetime) -> Event:
    """Say who else has its share of the jobs: whoever forgot about it would miss them here."""
    return Event(
        at=now,
        type=EventType.NORMAL,
        reason=EventReason.JOBS_DIVIDED,
        message=f"the jobs are divided with {', '.join(others)}: same state store, same clusters",
        key=f"fleet:divided:{now.isoformat()}",
        subject="headgate",
    )


def options_invalid(job: JobKey, faults: Sequence[str], now: datetime, interval: timedelta) -> Event:
    """Say what is wrong with a job's own options."""
    return Event(
        at=now,
        type=EventType.WARNING,
        reason=EventReason.OPTIONS_INVALID,
        message="; ".join(faults),
        key=f"{job}:options:{faults}",
        subject=job,
        merge_interval=interval,
    )


def cluster_health(cluster: str, failure: str | None, now: datetime) -> Event:
    """Say that a cluster stopped answering, or answers again."""
    return Event(
        at=now,
        type=EventType.NORMAL if failure is None else EventType.WARNING,
        reason=EventReason.CLUSTER_REACHABLE if failure is None else EventReason.CLUSTER_UNREACHABLE,
        message="answers" if failure is None else f"does not answer: {failure}; asked again at every tick",
        key=f"{cluster}:reachable:{now.isoformat()}",
        subject=cluster,
    )


def job_presence(job: JobKey, *, appeared: bool, why: str, now: datetime) -> Event:
    """Say that a job came or went."""
    return Event(
        at=now,
        type=EventType.NORMAL,
        reason=EventReason.JOB_APPEARED if appeared else EventReason.JOB_VANISHED,
        message=why,
        key=f"{job}:presence:{now.isoformat()}",
        subject=job,
    )


def changes_text(
    before: Mapping[VertexId, int], after: Mapping[VertexId, int], names: Mapping[VertexId, str] = NAMELESS
) -> str:
    """Name the change of each vertex: for programs by ids, with `names` for people."""
    return ", ".join(
        f"{names.get(vertex, vertex)} {before.get(vertex, '?')} -> {wanted}" for vertex, wanted in after.items()
    )


def parallelism_text(topology: Topology, wanted: Mapping[VertexId, int]) -> str:
    """Name the vertices that do not run as wanted, with both numbers."""
    apart = [
        f"{vertex.name} {vertex.parallelism} of {wanted[vertex.id]}"
        for vertex in topology.vertices
        if vertex.id in wanted and vertex.parallelism != wanted[vertex.id]
    ]
    return ", ".join(apart)


def _recovered(job: JobKey, intent: Intent, now: datetime, why: str) -> Event:
    message = f"an open change was closed: {why}"
    return _of_intent(job, intent, now, EventReason.INTENT_RECOVERED, message, step="closed")


def _of_intent(job: JobKey, intent: Intent, now: datetime, reason: EventReason, message: str, *, step: str) -> Event:
    return Event(
        at=now,
        type=EventType.WARNING if reason is EventReason.RESCALE_NOT_REACHED else EventType.NORMAL,
        reason=reason,
        message=message,
        key=f"{job}:{intent.decision_id}:{step}",
        subject=job,
        fields={"decision": intent.decision_id},
    )


def _since(intent: Intent, now: datetime) -> str:
    return span(round((now - intent.decided_at).total_seconds()))
