"""
Runs of jobs, and the rescales between them: what the downtime model learns from.

A run lasts from a start to the next. Two runs lie around a rescale when the parallelism is another one and a decision
of ours that acted came between; a restart by a failure, or by somebody else's hand, is none.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import groupby, pairwise

KEEP = timedelta(days=30)
"""What is older says nothing of today's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a job as it was seen; times are epoch milliseconds."""

    job: str
    job_id: str
    since_ms: int
    """When it began to run, by the engine's word."""
    first_ms: int
    """The first tick at which it was seen so."""
    last_ms: int
    """The latest one."""
    parallelism: str | None
    """Of all vertices, as a text that is another one when one of them is; None when unknown."""
    state_bytes: float | None
    """Latest that is known; None before the first checkpoint of a job that was submitted anew."""
    downtime_s: float | None
    """How long the job had stood still before; None when the engine does not tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenRescale:
    """One rescale that was made and seen."""

    job: str
    since_ms: int
    """When the job ran again."""
    state_bytes: float
    downtime_s: float
    redeploy: bool


def rescales_of(runs: Iterable[Run], acted: Mapping[str, Sequence[int]]) -> Iterator[SeenRescale]:
    """
    Find the rescales between runs; of one whose state nobody knows there is nothing to learn.

    Args:
        runs: of any jobs, in any order.
        acted: of each job when decisions of ours acted, epoch milliseconds.
    """
    ordered = sorted(runs, key=lambda run: (run.job, run.since_ms, run.first_ms))
    for job, of_job in groupby(ordered, key=lambda run: run.job):
        instants = sorted(acted.get(job, ()))
        for before, after in pairwise(_with_known_state(of_job)):
            if _is_rescaled(before, after) and _any_between(instants, before.since_ms, after.since_ms):
                yield from _seen(before, after)


def _with_known_state(runs: Iterable[Run]) -> Iterator[Run]:
    """Give the runs of a job, each with the state of the one before while its own is not known."""
    known = None
    for run in runs:
        known = known if run.state_bytes is None else run.state_bytes
        yield replace(run, state_bytes=known)


def _is_rescaled(before: Run, after: Run) -> bool:
    return None not in {before.parallelism, after.parallelism} and before.parallelism != after.parallelism


def _any_between(instants: Sequence[int], begin: int, end: int) -> bool:
    place = bisect_left(instants, begin)
    return place < len(instants) and instants[place] <= end


def _seen(before: Run, after: Run) -> Iterator[SeenRescale]:
    """Give the rescale; where the engine does not tell how long it took, it is since the job was last seen running."""
    if before.state_bytes is None:
        return
    between_s = max(after.since_ms - before.last_ms, 0) / 1000
    yield SeenRescale(
        job=after.job,
        since_ms=after.since_ms,
        state_bytes=before.state_bytes,
        downtime_s=between_s if after.downtime_s is None else after.downtime_s,
        redeploy=before.job_id != after.job_id,
    )
