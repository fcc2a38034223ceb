"""
The downtime model in use: fitted again and again from what was seen, asked for one job at a time.

It forgets nothing that it has seen when the log or the memory behind it does, but within bounds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

import numpy as np

from headgate.algorithm.downtime import KINDS, Learnt, Lines, Rescales, fit, predict
from headgate.model.downtime import Downtime
from headgate.model.identity import JobKey
from headgate.model.measures import JobMeasure
from headgate.model.samples import JobSample
from headgate.pipeline.downtime_prior import read_prior
from headgate.pipeline.downtime_runs import SeenRescale
from headgate.samplelog.layout import epoch_ms

_KEEP = timedelta(days=30)
"""What is older says nothing of today's."""

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

    learnt: Learnt
    jobs: Mapping[str, int]
    clusters: Mapping[str, int]
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
        if all(self._seen.get(key) == each for key, each in news.items()):
            return
        self._seen = _newest({**self._seen, **news}, epoch_ms(now - _KEEP))
        self._fitted = _fit(tuple(self._seen.values()), self._prior)

    def predict(self, sample: JobSample, /, *, redeploy: bool) -> Downtime | None:
        """Predict for a job as it is now; None as long as no rescale of this kind was seen in its cluster."""
        fitted = self._fitted
        if fitted is None:
            return None
        state = sample.values.get(JobMeasure.STATE_SIZE, 0.0)
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
    return _Fitted(learnt=fit(rescales, cluster_of, prior), jobs=jobs, clusters=clusters)


def _places(names: Iterable[str]) -> Mapping[str, int]:
    return {name: place for place, name in enumerate(sorted(set(names)))}


def _predict(fitted: _Fitted, job: JobKey, state_bytes: float, *, redeploy: bool) -> Downtime | None:
    line, basis = _line_of(fitted, job, redeploy=redeploy)
    if line is None:
        return None
    expected, low, high = (timedelta(seconds=float(each[0])) for each in predict(line, np.array([state_bytes])))
    return Downtime(expected=expected, low=low, high=high, basis=basis)


def _line_of(fitted: _Fitted, job: JobKey, *, redeploy: bool) -> tuple[Lines | None, str]:
    """Give the job's line, or that of its cluster, and how it came about."""
    cluster, own = fitted.clusters.get(job.cluster), fitted.jobs.get(str(job))
    if cluster is None:
        return None, ""
    shared = fitted.learnt.clusters.at(np.array([KINDS * cluster + redeploy]))
    lines = shared if own is None else fitted.learnt.jobs.at(np.array([KINDS * own + redeploy]))
    if not shared.count[0]:
        return None, ""
    mine = 0 if own is None else int(lines.count[0])
    what = "redeploys" if redeploy else "rescales in place"
    return lines, f"{mine} {what} of this job, {int(shared.count[0])} of its cluster"
