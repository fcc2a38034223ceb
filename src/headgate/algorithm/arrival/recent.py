"""The input of jobs as it is told from their latest samples alone, one tick after the other."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

import numpy as np

from headgate.algorithm.arrival.estimate import arrivals
from headgate.algorithm.arrival.fleet import Series
from headgate.algorithm.arrival.jobs import of_jobs
from headgate.algorithm.arrival.stretches import MEASURES, SERIES, stretches
from headgate.algorithm.columns import Column, Columns
from headgate.algorithm.readiness import EPOCH
from headgate.model.arrival import Arrival
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import SUBUNIT
from headgate.model.samples import JobSample, VertexSample

_MILLISECOND = timedelta(milliseconds=1)


class RecentArrivals:
    """Remembers what the sources of jobs have told for a while."""

    def __init__(self, keep: timedelta) -> None:
        """Remember nothing yet; `keep` is how long."""
        self._keep = keep
        self._number: dict[tuple[JobKey, VertexId], int] = {}
        self._told = Series.none()

    def add(self, samples: Sequence[JobSample]) -> Mapping[JobKey, Arrival]:
        """Take in the newest samples of some jobs, at least one, and tell what comes into these now."""
        since = max(sample.at for sample in samples) - self._keep
        self._told = self._told.since((since - EPOCH) // _MILLISECOND).followed_by(self._series(samples))
        owners = [(place, source.id) for place, sample in enumerate(samples) for source in sample.topology.sources]
        numbers = [self._number.setdefault((samples[place].job, source), len(self._number)) for place, source in owners]
        mine = self._told.of(np.array(numbers, dtype=np.int64), len(self._number))
        known = arrivals(stretches(mine.columns, mine.owner, len(numbers)))
        jobs = of_jobs(known, np.array([place for place, _ in owners], dtype=np.int64), len(samples))
        return {sample.job: jobs.of_job(place) for place, sample in enumerate(samples)}

    def keep_only(self, jobs: Collection[JobKey]) -> None:
        """Forget the other jobs."""
        kept = [source for source in self._number if source[0] in jobs]
        if len(kept) == len(self._number):
            return
        old = np.array([self._number[source] for source in kept], dtype=np.int64)
        self._told = self._told.of(old, len(self._number))
        self._number = {source: number for number, source in enumerate(kept)}

    def _series(self, samples: Sequence[JobSample]) -> Series:
        rows = [
            (self._number.setdefault((sample.job, source.id), len(self._number)), *_told(sample.at, seen))
            for sample in samples
            for source in sample.topology.sources
            if (seen := sample.vertices.get(source.id)) is not None
        ]
        owner, *columns = zip(*rows, strict=True) if rows else [()] * (1 + len(SERIES))
        named = zip(SERIES, columns, strict=True)
        return Series(
            columns=Columns(columns={name: _column(values) for name, values in named}),
            owner=np.array(owner, dtype=np.int64),
        )


def _told(at: datetime, seen: VertexSample) -> tuple[int | None, ...]:
    """Give what one source told, in the order of `SERIES`."""
    values = (seen.values.get(measure) for measure in MEASURES)
    known = (None if value is None or not np.isfinite(value) else round(value * SUBUNIT) for value in values)
    return (at - EPOCH) // _MILLISECOND, (seen.measured_at - EPOCH) // _MILLISECOND, seen.epoch, *known


def _column(values: Sequence[int | None]) -> Column:
    return Column(
        values=np.array([value or 0 for value in values], dtype=np.int64),
        valid=np.array([value is not None for value in values], dtype=np.bool_),
    )
