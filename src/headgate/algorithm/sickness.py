"""
What counts as sick after a rescale: one pure rule for each built-in checker, from what came after it to the evidence.

Every rule gives its evidence, or None for a job that it does not condemn. Of an exception's text only recognised
numbers and class names are repeated: the rest may hold secrets of the job's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from math import inf

from headgate.algorithm.wording import amount, span
from headgate.model.identity import VertexId
from headgate.model.measures import JobMeasure, JobStatus
from headgate.model.metrics import EvaluatedMetrics, ScalingMetric
from headgate.model.rollback import Aftermath, Evidence, JobFailure, Pool, Shortage, Trial
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.units import format_duration

Rule = Callable[[Aftermath, AutoscalerOptions], Evidence | None]

_OF_HEAP = Shortage(pool=Pool.HEAP)
_BY_REQUEST = frozenset({JobStatus.FINISHED, JobStatus.CANCELED, JobStatus.OTHER})
"""Somebody wanted it so, or wants it just now: a job that is being cancelled is in one of the other states."""
_BUFFERS = re.compile(
    r"Insufficient number of network buffers: required (?P<required>\d+), but only (?P<available>\d+)"
    r"|Timeout triggered when requesting exclusive buffers"
)
"""The words of `NetworkBufferPool` in Flink 2.3; they have been so for years."""
_BUFFERS_IN_ALL = re.compile(r"number of network buffers is currently set to (\d+)")
_HEAP = re.compile(r"OutOfMemoryError: (Java heap space|GC overhead limit exceeded)")
_LOST = re.compile(
    r"TaskManager with id \S+ (?:is no longer reachable|timed out)"
    r"|remote task manager (?:was|has been) lost"
    r"|reason=OOMKilled"
)
"""How Flink tells that a TaskManager went without a word; one that was told to go says goodbye."""
_LOSS = timedelta(seconds=30)
"""How long the loss of one TaskManager makes a job fail: heartbeats may miss it later once more, not twice."""
_EXPECTED = "org.apache.flink.util.FlinkExpectedException"
"""What Flink says of a TaskManager that was told to go: somebody wanted it so."""
_AS_MUCH = 1.1
"""Up to so much of the load of before counts as no more than that: rates are measured over short windows."""
_CLASS = re.compile(r"^(?:Caused by: )?(?P<name>[\w$]+(?:\.[\w$]+)+)(?=:|$)", re.MULTILINE)
"""The class of an exception or a cause, in front of its message."""


def lack_of_network_memory(aftermath: Aftermath, options: AutoscalerOptions) -> Evidence | None:
    """
    Condemn a scale-up after which tasks repeatedly do not get their network buffers.

    A subtask needs buffers for each of its channels, which are as many as there are subtasks on the other side: each
    slot needs more, however many TaskManagers there are.
    """
    found = [match for failure in _recent(aftermath, options) if (match := _BUFFERS.search(failure.text))]
    if not _grew(aftermath.trial) or len(found) < options.rollback.memory_failures:
        return None
    shortage = _shortage(found[-1])
    told = f"{len(found)} failures for want of network buffers since a scale-up{_told(shortage)}"
    return Evidence(found=told, shortage=shortage)


def memory_pressure(aftermath: Aftermath, options: AutoscalerOptions) -> Evidence | None:
    """
    Condemn a rescale since which the TaskManagers collect garbage, fill their heaps, run out of them or die.

    TaskManagers that are lost without a word are a sign of too little memory only after a scale-down, and only as
    often as failures make a restart loop: machines die too.
    """
    return (
        _pressed(aftermath, options)
        or _out_of_heap(_recent(aftermath, options), options)
        or _losing_workers(aftermath, options)
    )


def restart_loop(aftermath: Aftermath, options: AutoscalerOptions) -> Evidence | None:
    """
    Condemn a rescale after which the job fails again and again.

    A rescale is no failure, and neither is a TaskManager that was told to go. One that dies makes a job fail more than
    once, as its slots are tried again before it is missed: that is one failure. What failed as often before the
    rescale is a loop that came without it.
    """
    failures, before = _unasked(_recent(aftermath, options)), len(_unasked(aftermath.failures_before))
    if len(failures) - before < options.rollback.restarts:
        return None
    window = format_duration(options.rollback.restart_window)
    against = f", {before} before it" if before else ""
    last = innermost(failures[-1])
    return Evidence(found=f"{len(failures)} failures within {window} since the rescale{against}, the last by {last}")


def never_running(aftermath: Aftermath, options: AutoscalerOptions) -> Evidence | None:
    """
    Condemn a rescale since which the job is not running for too long, or that it did not survive.

    A job that takes long to restart is given as long.
    """
    if aftermath.status is JobStatus.FAILED:
        return Evidence(found=f"FAILED {_seconds(aftermath.now - aftermath.trial.began_at)} after the rescale")
    if aftermath.down_since is None or aftermath.status in _BY_REQUEST:
        return None
    down = aftermath.now - max(aftermath.down_since, aftermath.trial.began_at)
    limit = max(options.rollback.never_running, aftermath.restart_time or options.restart_time)
    if down <= limit:
        return None
    longer = f"longer than {format_duration(limit)}: {aftermath.status}"
    return Evidence(found=f"not running for {_seconds(down)} since the rescale, {longer}")


def not_reached(aftermath: Aftermath, options: AutoscalerOptions) -> Evidence | None:
    """
    Condemn a rescale that was given up, long after which the job runs exactly as before it.

    Going back then costs no restart: it only takes away a wish that could come true by itself at any time. A job that
    got a part of what was wanted, as slots allowed, is left alone: going back would take from it what it has.
    """
    trial = aftermath.trial
    waited = aftermath.now - trial.began_at
    runs = aftermath.status is JobStatus.RUNNING and aftermath.down_since is None and _as_before(aftermath)
    if trial.reached_at or not aftermath.given_up or not runs or waited < options.rollback.not_reached:
        return None
    return Evidence(found=f"the job still runs as before {_seconds(waited)} after it was to be rescaled")


def falls_behind(
    aftermath: Aftermath, options: AutoscalerOptions, evaluated: EvaluatedMetrics | None
) -> Evidence | None:
    """
    Condemn a scale-down since which the job does not keep up, though no more arrives than when that was decided.

    A backlog that the change itself leaves behind has its time to be worked off, `catch-up.duration` after the
    stabilization, and one that a failure leaves says nothing of the parallelism. Where more arrives the job grows again
    as usual: nothing was wrong with the scale-down.
    """
    trial = aftermath.trial
    if evaluated is None or not evaluated.backlog or aftermath.failures or not _runs_as_wanted(aftermath):
        return None
    waited = aftermath.now - (trial.reached_at or aftermath.now)
    if waited < options.stabilization_interval + options.catch_up_duration:
        return None
    loads = [(trial.demand.get(vertex, 0.0), _demand(evaluated, vertex)) for vertex in _shrunk(trial)]
    if not loads or not all(now <= _AS_MUCH * before for before, now in loads):
        return None
    before, now = max(loads)
    rates = f"{amount(now)} records/s arrive, {amount(before)} before it"
    return Evidence(found=f"behind {_seconds(waited)} after a scale-down that its load does not explain: {rates}")


def innermost(failure: JobFailure) -> str:
    """Name the class of the innermost cause: what an exception says may hold secrets."""
    return ([match["name"] for match in _CLASS.finditer(failure.text)] or ["an unnamed exception"])[-1]


def _runs_as_wanted(aftermath: Aftermath) -> bool:
    running = aftermath.running
    return bool(running) and all(running.get(vertex, n) == n for vertex, n in aftermath.trial.after.items())


def _demand(evaluated: EvaluatedMetrics, vertex: VertexId) -> float:
    """Give the records/s that a vertex has to do; infinite where that is not known."""
    known = evaluated.vertices.get(vertex)
    return known.metrics.get(ScalingMetric.TARGET_DATA_RATE, inf) if known else inf


def _pressed(aftermath: Aftermath, options: AutoscalerOptions) -> Evidence | None:
    reached_at = aftermath.trial.reached_at
    if reached_at is None or aftermath.now - reached_at < _gathering(options):
        return None
    own = options.rollback
    gc = options.gc_pressure_threshold if options.is_set("memory.gc-pressure.threshold") else own.gc_pressure
    heap = options.heap_usage_threshold if options.is_set("memory.heap-usage.threshold") else own.heap_usage
    return _risen(aftermath, JobMeasure.GC_PRESSURE, gc, "time in garbage collection") or _risen(
        aftermath, JobMeasure.HEAP_MAX_USAGE_RATIO, heap, "heap in use"
    )


def _gathering(options: AutoscalerOptions) -> timedelta:
    """Give how long values are gathered: never so long that the next decision comes first, and covers up for it."""
    return min(options.rollback.pressure_after, options.stabilization_interval + options.metrics_window / 2)


def _risen(aftermath: Aftermath, measure: JobMeasure, threshold: float, name: str) -> Evidence | None:
    """Hold a value since against the one before; what is unknown, before or since, proves nothing."""
    before, since = aftermath.trial.values.get(measure), aftermath.values.get(measure)
    # NaN is above and below nothing
    if before is None or since is None or not before <= threshold < since:
        return None
    told = f"{name}: {since:.1%} on average since the rescale, above {threshold:.1%}, and {before:.1%} before it"
    return Evidence(found=told, shortage=_OF_HEAP)


def _out_of_heap(failures: Sequence[JobFailure], options: AutoscalerOptions) -> Evidence | None:
    found = [match[1] for failure in failures if (match := _HEAP.search(failure.text))]
    if len(found) < options.rollback.memory_failures:
        return None
    told = f"{len(found)} failures for want of heap since the rescale, the last: {found[-1]}"
    return Evidence(found=told, shortage=_OF_HEAP)


def _losing_workers(aftermath: Aftermath, options: AutoscalerOptions) -> Evidence | None:
    lost, before = _losses(_recent(aftermath, options)), _losses(aftermath.failures_before)
    if not _shrank(aftermath.trial) or len(lost) - len(before) < options.rollback.restarts:
        return None
    window = format_duration(options.rollback.restart_window)
    told = f"{len(lost)} failures by lost TaskManagers within {window} since a scale-down"
    return Evidence(found=told, shortage=_OF_HEAP)


def _recent(aftermath: Aftermath, options: AutoscalerOptions) -> Sequence[JobFailure]:
    """
    Give the failures since the rescale, without those that the job has got over.

    Where more memory was asked for, they begin when the job first runs with it: until then TaskManagers that have not
    got it still fail of too little, and go, which are failures too. Time alone tells then that they never come back.
    """
    trial = aftermath.trial
    began_at = trial.began_at if trial.memory_raised_at is None else trial.reached_at or aftermath.now
    since = max(began_at, aftermath.now - options.rollback.restart_window)
    return [failure for failure in aftermath.failures if since <= failure.at]


def _unasked(failures: Sequence[JobFailure]) -> Sequence[JobFailure]:
    return _with_each_loss_once([each for each in failures if not each.text.startswith(_EXPECTED)])


def _losses(failures: Sequence[JobFailure]) -> Sequence[JobFailure]:
    return [each for each in _with_each_loss_once(failures) if _LOST.search(each.text)]


def _with_each_loss_once(failures: Sequence[JobFailure]) -> Sequence[JobFailure]:
    """Leave out what follows from the loss of a TaskManager that stands before it."""
    kept: list[JobFailure] = []
    lost_at: datetime | None = None
    for failure in failures:
        if _LOST.search(failure.text):
            if lost_at is not None and failure.at - lost_at < _LOSS:
                continue
            lost_at = failure.at
        kept.append(failure)
    return kept


def _grew(trial: Trial) -> bool:
    return any(wanted > trial.before.parallelism.get(vertex, wanted) for vertex, wanted in trial.after.items())


def _shrank(trial: Trial) -> bool:
    return bool(_shrunk(trial))


def _shrunk(trial: Trial) -> Sequence[VertexId]:
    before = trial.before.parallelism
    return [vertex for vertex, wanted in trial.after.items() if wanted < before.get(vertex, wanted)]


def _as_before(aftermath: Aftermath) -> bool:
    before, running = aftermath.trial.before.parallelism, aftermath.running
    return all(running.get(vertex) == before.get(vertex) for vertex in aftermath.trial.after)


def _shortage(match: re.Match[str]) -> Shortage:
    """Read the numbers of Flink's own message, as far as it has them."""
    if match["required"] is None:
        return Shortage(pool=Pool.NETWORK)
    known = _BUFFERS_IN_ALL.search(match.string)
    return Shortage(
        pool=Pool.NETWORK,
        required=int(match["required"]),
        available=int(match["available"]),
        buffers=int(known[1]) if known else None,
    )


def _told(shortage: Shortage) -> str:
    if shortage.required is None:
        return ""
    of = "" if shortage.buffers is None else f" of {shortage.buffers}"
    return f": {shortage.required} required, {shortage.available}{of} available"


def _seconds(duration: timedelta) -> str:
    return span(duration)
