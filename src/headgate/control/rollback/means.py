"""Means of job-wide values since a rescale was reached; lost with the process, and then taken anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from math import isnan

from headgate.model.identity import JobKey
from headgate.model.measures import JobMeasure
from headgate.model.rollback import Trial
from headgate.model.samples import JobSample

_FEWEST = 3
"""Samples that make a mean: one alone may be taken right before the garbage is collected."""


@dataclass(slots=True, kw_only=True)
class _Sums:
    since: datetime
    latest: datetime | None = None
    sums: Counter[JobMeasure] = field(default_factory=Counter)
    counts: Counter[JobMeasure] = field(default_factory=Counter)

    def add(self, sample: JobSample) -> None:
        if self.latest is not None and sample.at <= self.latest:
            return
        self.latest = sample.at
        known = {measure: value for measure, value in sample.values.items() if not isnan(value)}
        self.sums.update(dict[JobMeasure, float](known))
        self.counts.update(known.keys())


@dataclass(frozen=True, slots=True)
class Means:
    """Of the jobs whose rescale is under observation."""

    _known: dict[JobKey, _Sums] = field(default_factory=dict)

    def with_sample(self, job: JobKey, trial: Trial, sample: JobSample | None) -> Mapping[JobMeasure, float]:
        """Take a sample of the job as it runs now into account; empty before it first ran as wanted."""
        if trial.reached_at is None:
            return {}
        sums = self._known.get(job)
        if sums is None or sums.since != trial.reached_at:
            sums = self._known[job] = _Sums(since=trial.reached_at)
        if sample is not None:
            sums.add(sample)
        return {measure: sums.sums[measure] / taken for measure, taken in sums.counts.items() if taken >= _FEWEST}

    def forget(self, job: JobKey) -> None:
        """Let go of a job whose trial is over."""
        self._known.pop(job, None)
