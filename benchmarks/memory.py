"""Evaluating and proposing alone, from reduced windows in memory: what of a cycle is Headgate's own arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from benchmarks.workload import INTERVAL, NOW, WINDOW, Fleet, ticks
from headgate.algorithm.arrival.fleet import Series
from headgate.algorithm.decide import decide
from headgate.algorithm.job_wide import reduce_jobs
from headgate.algorithm.reduce import reduce_columns
from headgate.model.decision import Outcome
from headgate.pipeline.arrow import columns, joined, places
from headgate.pipeline.evaluation import Question, Windows
from headgate.pipeline.roster import Roster
from headgate.ports import Candidate

SOME = 5
"""Ticks from which the windows are made: how many there were does not matter any more once they are reduced."""


def propose_in_memory(fleet: Fleet, times: int) -> Callable[[int], int]:
    """Give a function that evaluates the fleet and proposes for every job that wants anything, for so many calls."""
    roster = Roster()
    windows = _windows(fleet, roster)
    asked = [fleet.candidates(NOW) for _ in range(times)]
    return lambda number: _propose(asked[number], roster, windows)


def _propose(candidates: Sequence[Candidate], roster: Roster, windows: Windows) -> int:
    answers = Question(candidates=candidates, now=NOW, collect_interval=INTERVAL).answers(
        roster.fleet(candidates), windows
    )
    decisions = [decide(one.sample, answers[one.sample.job], one.options, NOW) for one in candidates]
    return sum(decision.outcome is Outcome.RESCALE for decision in decisions)


def _windows(fleet: Fleet, roster: Roster) -> Windows:
    laid = roster.fleet(fleet.candidates(NOW))
    instants = [*list(ticks(NOW - WINDOW, NOW))[:: 60 // SOME], NOW]
    samples = pa.concat_tables([fleet.samples(at) for at in instants])
    job_samples = pa.concat_tables([fleet.job_values(at) for at in instants])
    reduced, owner = reduce_columns(columns(samples), places(joined(samples["job"], samples["vertex"]), laid.vertices))
    reduced["samples"].values[:] = 61
    jobs = len(laid.names)
    return Windows(
        columns=reduced,
        owner=owner,
        job_columns=reduce_jobs(columns(job_samples), places(job_samples["job"], laid.jobs), jobs),
        job_owner=np.arange(jobs),
        series=Series.none(),
    )
