"""How long the next rescale is expected to stop a job, also before one was seen: by what its engine tells of it."""

from __future__ import annotations

import math
from datetime import timedelta

from headgate.algorithm.downtime import LONGEST_S
from headgate.algorithm.wording import amount, span
from headgate.model.downtime import Downtime
from headgate.model.measures import JobMeasure, as_kept
from headgate.model.metrics import EvaluatedMetrics
from headgate.model.samples import JobSample
from headgate.options.autoscaler import AutoscalerOptions

_IN_PLACE_S, _REDEPLOY_S = 3.0, 30.0
"""How long a rescale of a job without state is guessed to take: in place, and where the job is submitted anew."""

_RESTORE_RATE = 85e6
"""
Bytes/s that a subtask is guessed to load. Source: Amazon's performance guidelines for S3, 85 to 90 MB/s a connection.
"""

_LONGEST_BELIEVED_S = 30.0
"""Restart of another cause that counts as what a rescale takes: a longer one may have waited for something else."""


def expected_downtime(evaluated: EvaluatedMetrics, sample: JobSample, options: AutoscalerOptions) -> Downtime:
    """
    Return how long a rescale is expected to stop the job, and what says so.

    The first that is known counts: what rescales of the job or its cluster were seen to take; `restart.time` where it
    is set; how long the job stood still before its latest start; a guess by the way it is rescaled and by its state.
    The default of `restart.time` is on the safe side where capacity is concerned; to wait for it would be none.
    """
    if evaluated.downtime is not None:
        return evaluated.downtime
    if options.is_set("restart.time"):
        return _fixed(options.restart_time.total_seconds(), "restart.time, no rescale was measured yet")
    guess = _guess(sample, options)
    if JobMeasure.LAST_DOWNTIME not in sample.values:
        return guess
    stood_s = as_kept(sample.values[JobMeasure.LAST_DOWNTIME])  # as the log has it, for a replay
    most_s = max(_LONGEST_BELIEVED_S, guess.expected.total_seconds())
    basis = f"its latest restart took {span(stood_s)}, no rescale was measured yet"
    return _fixed(min(stood_s, most_s), basis)


def _guess(sample: JobSample, options: AutoscalerOptions) -> Downtime:
    """
    Guess how long a rescale takes. A state of which nothing is known counts as none: checkpoints tell within a minute.

    A job that is submitted anew writes its state as well, into the savepoint that it is stopped with.
    """
    in_place = sample.settings.adaptive and not options.has_own_realizer
    fixed_s, passes, way = (_IN_PLACE_S, 1, "in place") if in_place else (_REDEPLOY_S, 2, "submitted anew")
    state = as_kept(sample.values.get(JobMeasure.STATE_SIZE, math.nan))
    subtasks = max((vertex.parallelism for vertex in sample.topology.vertices), default=1)
    loading_s = passes * (0.0 if math.isnan(state) else state) / (_RESTORE_RATE * subtasks)
    size = "state of unknown size" if math.isnan(state) else f"{amount(state / 1024**2)} MiB of state"
    return _fixed(min(fixed_s + loading_s, LONGEST_S), f"a guess: {way}, {size}, no rescale was measured yet")


def _fixed(seconds: float, basis: str) -> Downtime:
    time = timedelta(seconds=seconds)
    return Downtime(expected=time, low=time, high=time, basis=basis)
