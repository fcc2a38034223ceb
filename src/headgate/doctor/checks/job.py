"""Whether a job can be changed safely, and how far it can grow."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from headgate.algorithm.suitability import unsuitable
from headgate.config.launches import SAVEPOINT_REDEPLOY
from headgate.doctor.facts import CheckpointFacts, JobFacts
from headgate.doctor.findings import Finding, broken, doubtful, fine, hindering, seconds, span
from headgate.model.measures import JobStatus
from headgate.model.topology import Vertex
from headgate.options.reactive import ExecutionMode
from headgate.options.service import Mode

_OVERDUE = 3
"""Intervals without a completed checkpoint after which something is wrong."""
_AT_LEAST_S = 60.0
"""Nothing is overdue before that."""


def check_own_options(facts: JobFacts) -> Iterator[Finding]:
    """Check what the job's own configuration says to Headgate."""
    for fault in facts.job.faults:
        why = "options of a job's own that are wrong do not hold, and some keep it from being scaled"
        yield doubtful("its own options", fault, why=why, remedy="correct the job's configuration")


def check_running(facts: JobFacts) -> Iterator[Finding]:
    """Check whether it runs: only then anything can be told."""
    status = facts.job.status
    if not facts.job.options.enabled:
        yield fine("state", "it is not looked after: `job.autoscaler.enabled` is false")
    elif facts.gone is not None:
        remedy = "run the doctor again; if it stays so, look at the JobManager's log"
        yield doubtful("state", facts.gone, why="nothing is decided about a job that does not answer", remedy=remedy)
    elif status is not JobStatus.RUNNING:
        remedy = "wait until all its tasks run; if they never do, look at its exceptions"
        yield doubtful("state", str(status), why="a job is left alone until all its tasks run", remedy=remedy)


def check_realizer(facts: JobFacts, mode: Mode) -> Iterator[Finding]:
    """Check how its parallelism would be changed."""
    check, settings, options = "how it is changed", facts.settings, facts.job.options
    if options.has_own_realizer:
        yield _own_realizer(facts)
    elif settings.adaptive:
        yield fine(check, "in place: its scheduler is the adaptive one")
    elif settings.reactive:
        yield _reactive_cluster(options.execution_mode)
    else:
        yield hindering(
            check,
            "its scheduler cannot change parallelism in place",
            mode=mode,
            why="Headgate can say what it would do, but not do it",
            remedy=(
                "start the cluster with `jobmanager.scheduler: adaptive`, or let Headgate replace the job from a "
                f"savepoint: `job.autoscaler.scaling.realizer.class: {SAVEPOINT_REDEPLOY}`"
            ),
        )


def _own_realizer(facts: JobFacts) -> Finding:
    realizer = facts.job.options.realizer
    seen = f"by {realizer}, as its options say"
    if realizer != SAVEPOINT_REDEPLOY or facts.launch:
        return fine("how it is changed", seen)
    return doubtful(
        "how it is changed",
        f"{seen}, and no entry of `jobs` has a `launch` for it",
        why="to start a job again, Headgate must know what it was started from",
        remedy="declare `launch`, or submit the job by `headgate submit`, which notes it",
    )


def _reactive_cluster(mode: ExecutionMode | None) -> Finding:
    seen = "by Flink itself: the cluster has `scheduler-mode: reactive`"
    if mode is ExecutionMode.REACTIVE:
        return fine("how it is changed", seen)
    return doubtful(
        "how it is changed",
        seen,
        why="such a cluster takes no orders: a job uses all slots, and is scaled by adding and removing workers",
        remedy="leave `job.autoscaler.execution-mode` unset and give the cluster `workers`, or leave the mode out",
    )


def check_reactive_mode(facts: JobFacts) -> Iterator[Finding]:
    """Check whether a job in reactive mode is fit for it, by the same rules as `headgate preflight`."""
    if facts.suitability is None:
        return
    against = unsuitable(facts.suitability)
    if not against:
        yield fine("reactive mode", "nothing stands against it")
    for reason in against:
        said, _, hint = reason.partition(" Hint: ")
        remedy = hint or "see `headgate preflight`"
        yield broken("reactive mode", said.rstrip("."), why="the job's `execution-mode` is reactive", remedy=remedy)


def check_checkpoints(facts: JobFacts, mode: Mode) -> Iterator[Finding]:
    """Check whether checkpoints are on and completed: a rescale waits for the next one, and goes on from it."""
    found = facts.checkpoints
    if found is None:
        why = "without them a rescale begins anew"
        yield doubtful("checkpoints", "the cluster does not tell of them", why=why, remedy="run the doctor again")
    elif found.interval_s is None:
        yield hindering(
            "checkpoints",
            "they are off",
            mode=mode,
            why="a rescale restarts the job from its last checkpoint: without one it begins anew, and loses its state",
            remedy="set `execution.checkpointing.interval`, 10 s to 1 min where a change is to be quick",
        )
    else:
        yield _completing(facts, found, found.interval_s)


def _completing(facts: JobFacts, found: CheckpointFacts, interval_s: float) -> Finding:
    every = f"every {seconds(interval_s)}"
    if found.completed is None:
        return fine("checkpoints", f"{every}; how many were completed is not told")
    seen = f"{every}; {found.completed} completed, {found.failed} failed"
    silent = _silence(facts, found)
    if silent is None or silent.total_seconds() <= max(_OVERDUE * interval_s, _AT_LEAST_S):
        return fine("checkpoints", seen)
    since = "the last one" if found.last_at else "the job's start, and none was completed"
    return doubtful(
        "checkpoints",
        f"{seen}; {span(silent)} since {since}",
        why="a rescale waits for the next checkpoint; after some that fail it goes back to the last one",
        remedy="look at the job's checkpoints in Flink's pages: back-pressure, a store that is away, a timeout",
    )


def _silence(facts: JobFacts, found: CheckpointFacts) -> timedelta | None:
    begin = max((at for at in (found.last_at, facts.running_since) if at), default=None)
    return None if begin is None or facts.now is None else facts.now - begin


def check_headroom(facts: JobFacts) -> Iterator[Finding]:
    """Check how far each vertex can grow: never above its key groups, its partitions, or the option's bound."""
    bound = facts.job.options.max_parallelism
    running = [vertex for vertex in facts.graph if not vertex.finished]
    full = [vertex for vertex in running if vertex.parallelism >= min(vertex.max_parallelism, bound)]
    yield from (_full(vertex, bound) for vertex in full)
    if running and not full:
        least = min(running, key=lambda vertex: min(vertex.max_parallelism, bound) / vertex.parallelism)
        most = min(least.max_parallelism, bound)
        yield fine("headroom", f"every vertex can grow; {least.name} least, from {least.parallelism} to {most}")


def _full(vertex: Vertex, bound: int) -> Finding:
    by_option = bound < vertex.max_parallelism
    limit = f"vertex.max-parallelism {bound}" if by_option else f"its max parallelism {vertex.max_parallelism}"
    change = "raise `job.autoscaler.vertex.max-parallelism`"
    in_program = "raise `setMaxParallelism()` or `pipeline.max-parallelism`, which needs a start without the old state"
    return doubtful(
        "headroom",
        f"{vertex.name} runs at {vertex.parallelism}, and {limit} allows no more",
        why="it cannot grow, and what feeds it is held back with it",
        remedy=change if by_option else in_program,
    )
