"""
The downtime model in use: fitted again and again from what was seen, asked for one job at a time.

It forgets nothing that it has seen when the log or the memory behind it does, but within bounds.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

import numpy as np

from headgate.algorithm.downtime import KINDS, Line, Lines, Rescales, fit
from headgate.model.downtime import Downtime
from headgate.model.identity import JobKey
from headgate.model.measures import JobMeasure
from headgate.model.samples import JobSample
from headgate.pipeline.downtime_prior import read_prior
from headgate.pipeline.downtime_runs import KEEP, SeenRescale
from headgate.samplelog.layout import epoch_ms

_KEEP_OF_JOB = 100
"""Newest rescales of a job that count."""


class RescaleSource(Protocol):
    """Finds rescales that were made."""

    def rescales(self, now: datetime, /) -> Sequence[SeenRescale]:
        """
        Give those since the last call at least; one that was given before counts once, as it is given last.

        Raises:
            UnreachableError: they could not be found out; nothing is lost.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fitted:
    """What was learnt, and where whose lines stand."""

    of_jobs: Sequence[Line]
    of_clusters: Sequence[Line]
    jobs: Mapping[str, int]
    clusters: Mapping[str, int]
    largest: Mapping[str, float]
    """The largest state that was seen of each job and of each cluster."""
    said: dict[tuple[JobKey, bool], tuple[float, Downtime | None]] = field(default_factory=dict)
    """The latest prediction of each job and kind, and the state it was for: a fleet's cycle asks twice for each job."""


class DowntimeLearner:
    """A `ports.DowntimeModel` that learns when told to; it may be asked meanwhile, in another thread."""

    def __init__(self, source: RescaleSource, *, prior: Lines | None = None) -> None:
        """Know nothing yet; the prior is that of the package unless another one is given."""
        self._source = source
        self._prior = read_prior() if prior is None else prior
        self._seen: dict[tuple[str, int], SeenRescale] = {}
        self._fitted: _Fitted | None = None

    def learn(self, now: datetime, /) -> None:
        """
        Take in what was seen since the last time; blocking.

        Raises:
            UnreachableError: as the source has it; what was learnt before stays.
        """
        news = {(each.job, each.since_ms): each for each in self._source.rescales(now)}
        seen = _newest({**self._seen, **news}, epoch_ms(now - KEEP))
        if seen != self._seen:
            self._seen, self._fitted = seen, _fit(tuple(seen.values()), self._prior)

    def predict(self, sample: JobSample, /, *, redeploy: bool) -> Downtime | None:
        """
        Predict for a job as it is now; None as long as no rescale of this kind was seen in its cluster.

        A job that was submitted anew tells its state after a checkpoint; until then the largest one known counts.
        """
        fitted = self._fitted
        if fitted is None:
            return None
        state = sample.values.get(JobMeasure.STATE_SIZE)
        if state is None:
            state = _largest(fitted, sample.job)
        before = fitted.said.get((sample.job, redeploy))
        if before is None or before[0] != state:
            before = state, _predict(fitted, sample.job, state, redeploy=redeploy)
            fitted.said[sample.job, redeploy] = before
        return before[1]


def _newest(seen: Mapping[tuple[str, int], SeenRescale], since_ms: int) -> dict[tuple[str, int], SeenRescale]:
    count: Counter[str] = Counter()
    kept: dict[tuple[str, int], SeenRescale] = {}
    for key in sorted(seen, key=lambda key: key[1], reverse=True):
        count[key[0]] += 1
        if key[1] >= since_ms and count[key[0]] <= _KEEP_OF_JOB:
            kept[key] = seen[key]
    return kept


def _fit(seen: Sequence[SeenRescale], prior: Lines) -> _Fitted:
    jobs = _places(each.job for each in seen)
    clusters = _places(JobKey.parse(job).cluster for job in jobs)
    rescales = Rescales(
        state_bytes=np.array([each.state_bytes for each in seen], dtype=np.float64),
        downtime_s=np.array([each.downtime_s for each in seen], dtype=np.float64),
        job=np.array([jobs[each.job] for each in seen], dtype=np.int64),
        redeploy=np.array([each.redeploy for each in seen], dtype=np.bool_),
    )
    cluster_of = np.array([clusters[JobKey.parse(job).cluster] for job in jobs], dtype=np.int64)
    learnt, largest = fit(rescales, cluster_of, prior), defaultdict[str, float](float)
    for each in seen:
        for name in (each.job, JobKey.parse(each.job).cluster):
            largest[name] = max(largest[name], each.state_bytes)
    return _Fitted(
        of_jobs=learnt.jobs.each(), of_clusters=learnt.clusters.each(), jobs=jobs, clusters=clusters, largest=largest
    )


def _places(names: Iterable[str]) -> Mapping[str, int]:
    return {name: place for place, name in enumerate(sorted(set(names)))}


def _largest(fitted: _Fitted, job: JobKey) -> float:
    return fitted.largest.get(str(job), fitted.largest.get(job.cluster, 0.0))


def _predict(fitted: _Fitted, job: JobKey, state_bytes: float, *, redeploy: bool) -> Downtime | None:
    """Give what the job's line says, or that of its cluster, and how it came about."""
    cluster, own = fitted.clusters.get(job.cluster), fitted.jobs.get(str(job))
    if cluster is None:
        return None
    shared = fitted.of_clusters[KINDS * cluster + redeploy]
    if not shared.count:
        return None
    line = shared if own is None else fitted.of_jobs[KINDS * own + redeploy]
    mine = 0 if own is None else int(line.count)
    what = "redeploys" if redeploy else "rescales in place"
    expected, low, high = (timedelta(seconds=each) for each in line.predict(state_bytes))
    basis = f"{mine} {what} of this job, {int(shared.count)} of its cluster"
    return Downtime(expected=expected, low=low, high=high, basis=basis)
