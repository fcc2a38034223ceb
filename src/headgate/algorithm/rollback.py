"""
Whose fault a sick job is, where it goes back to, and what is remembered of it: as pure functions (FLINK-37411).

Whether a job is sick is not told here, see `algorithm.sickness`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime, timedelta

from headgate.model.identity import VertexId
from headgate.model.redeploy import Start, number_of_way_back, successor_of
from headgate.model.rollback import Aftermath, ParallelismBound, Rollback, Run, Side, Trial, Why
from headgate.model.samples import EngineSettings, JobSample
from headgate.options.rollback import RollbackOptions, RollbackTarget

Parallelism = Mapping[VertexId, int]


def run_of(sample: JobSample, started_at: datetime | None, start: Start | None = None) -> Run:
    """
    Give how a job runs.

    Args:
        sample: the job's latest.
        started_at: since when the engine has it, None when it does not tell.
        start: with what to start it again, where it is redeployed.
    """
    return Run(
        job_id=sample.job_id,
        fingerprint=sample.topology.fingerprint,
        parallelism=sample.topology.parallelism,
        names=sample.topology.names,
        settings=digest_of(sample.settings),
        started_at=started_at,
        start=start,
    )


def digest_of(settings: EngineSettings) -> str:
    """Give a short text that changes with the memory settings of a cluster; empty where they could not be read."""
    if not settings.memory:
        return ""
    return hashlib.sha256(json.dumps(sorted(settings.memory.items())).encode()).hexdigest()[:16]


def descends(job_id: str, ancestor: str) -> bool:
    """Tell whether a job is that one, or was started in its place by a redeploy of ours."""
    return job_id in {ancestor, successor_of(ancestor)} or number_of_way_back(job_id, ancestor) is not None


def foreign_change(trial: Trial, job_id: str, started_at: datetime | None, sample: JobSample | None) -> str:
    """
    Name what else has changed since the job was last well, after our rescale; empty when nothing has.

    Args:
        trial: the rescale.
        job_id: of the job as it is listed now.
        started_at: since when the engine has it, None when it does not tell.
        sample: taken of the running job now; None while it does not run, then less can be told.
    """
    if job_id != trial.runs_as:
        return "the job was submitted anew"
    if trial.memory_raised_at is None and differ(trial.started_at, started_at):
        return "its JobManager was restarted"
    if sample is None:
        return ""
    topology = sample.topology
    if trial.redeploy is None and topology.fingerprint != trial.before.fingerprint:
        return "its graph has changed"
    if trial.memory_raised_at is None and differ(trial.before.settings, digest_of(sample.settings)):
        return "the memory settings of its cluster have changed"
    moved = [vertex.name for vertex in topology.vertices if _is_elsewhere(trial, vertex.id, vertex.parallelism)]
    return f"the parallelism of {', '.join(moved)} was changed" if moved else ""


def differ(known: object, seen: object) -> bool:
    """Tell whether two things are known, and not the same."""
    return bool(known) and bool(seen) and known != seen


def _is_elsewhere(trial: Trial, vertex: VertexId, running: int) -> bool:
    """Tell whether a vertex runs at more than where it was and where it goes: fewer are what a lack of slots is."""
    before = trial.before.parallelism.get(vertex, running)
    wanted = trial.after.get(vertex, before)
    return trial.redeploy is None and running > max(before, wanted)


def is_reached(trial: Trial, sample: JobSample) -> bool:
    """Tell whether a job runs as its rescale wanted; vertices that a redeploy has chained away do not count."""
    running = sample.topology.parallelism
    return all(running.get(vertex, wanted) == wanted for vertex, wanted in trial.after.items())


def has_passed(trial: Trial, observation: timedelta, now: datetime) -> bool:
    """Tell whether a rescale was observed for long enough; one that was never reached counts from its begin."""
    return now - (trial.reached_at or trial.began_at) >= observation


def is_too_late(aftermath: Aftermath, options: RollbackOptions) -> bool:
    """
    Tell whether a job fell ill only after its rescale had been observed for long enough.

    One that was never seen to run as wanted, and fails, may have run so while nobody looked: from its begin, then.
    """
    trial = aftermath.trial
    began_at = trial.reached_at or (trial.began_at if aftermath.failures else None)
    return began_at is not None and _ill_since(aftermath, options.restart_window) - began_at > options.observation


def _ill_since(aftermath: Aftermath, window: timedelta) -> datetime:
    """Give when it began: before a failure the job was well where there was none for as long as failures count."""
    since = aftermath.trial.ill_since or aftermath.down_since or aftermath.now
    for failure in reversed(aftermath.failures):
        if since - failure.at > window:
            break
        since = min(since, failure.at)
    return since


def target_of(trial: Trial, first: Run | None, target: RollbackTarget) -> Run:
    """Give how the job ran where it goes back to; without a first run that is a way back it is the last good one."""
    if target is RollbackTarget.LAST or first is None:
        return trial.before
    fits = first.start is not None if trial.redeploy else first.fingerprint == trial.before.fingerprint
    is_other = bool(changes(sick_run(trial).parallelism, first.parallelism))
    return first if fits and is_other else trial.before


def sick_run(trial: Trial) -> Run:
    """Give how the job runs, or should run, with its rescale."""
    return Run(
        job_id=trial.runs_as,
        fingerprint=trial.before.fingerprint,
        parallelism={**trial.before.parallelism, **trial.after},
        names=trial.before.names,
        settings=trial.before.settings,
        started_at=trial.started_at,
    )


def changes(sick: Parallelism, target: Parallelism) -> dict[VertexId, int]:
    """Give the parallelism of the vertices that change on the way back."""
    return {vertex: target[vertex] for vertex, running in sick.items() if target.get(vertex, running) != running}


def bounds_of(trial: Trial, why: Why, expires_at: datetime) -> tuple[ParallelismBound, ...]:
    """Give what no decision may reach again: of each vertex that grew what it grew to, of one that shrank likewise."""
    before = trial.before.parallelism
    return tuple(
        ParallelismBound(
            vertex=vertex,
            parallelism=wanted,
            side=Side.BELOW if wanted > before[vertex] else Side.ABOVE,
            expires_at=expires_at,
            why=why,
            began_at=trial.began_at,
            well=before[vertex],
        )
        for vertex, wanted in trial.after.items()
        if wanted != before.get(vertex, wanted)
    )


def merged_bounds(
    known: tuple[ParallelismBound, ...], new: tuple[ParallelismBound, ...]
) -> tuple[ParallelismBound, ...]:
    """Put bounds together; of two of a vertex on one side the newer one replaces the other where it is as strict."""
    kept = tuple(old for old in known if not any(_covers(one, old) for one in new))
    return (*kept, *new)


def _covers(new: ParallelismBound, old: ParallelismBound) -> bool:
    if (new.vertex, new.side) != (old.vertex, old.side) or new.expires_at < old.expires_at:
        return False
    return new.limit <= old.limit if new.side is Side.BELOW else new.limit >= old.limit


def unexpired(bounds: tuple[ParallelismBound, ...], now: datetime) -> tuple[ParallelismBound, ...]:
    """Leave out what has expired."""
    return tuple(bound for bound in bounds if bound.expires_at > now)


def is_paused(rollback: Rollback, job_id: str, started_at: datetime | None, now: datetime) -> bool:
    """
    Tell whether nothing may be scaled yet: its time has not come, or the cluster was not restarted since.

    A cluster that was restarted has the job under another id, or since another instant.
    """
    if rollback.paused_until is not None:
        return now < rollback.paused_until
    if job_id == rollback.run.job_id:
        return not differ(rollback.run.started_at, started_at)
    return descends(job_id, rollback.run.job_id) and not differ(rollback.started_at, started_at)
