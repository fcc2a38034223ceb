"""What comes into the sources of a fleet since it changed last, for those jobs that go by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from headgate.algorithm.arrival.estimate import arrivals
from headgate.algorithm.arrival.jobs import JobArrivals, of_jobs
from headgate.algorithm.arrival.stretches import SERIES, stretches
from headgate.algorithm.columns import Column, Columns, stacked
from headgate.algorithm.fleet import Layout
from headgate.algorithm.stats import Bools, Floats, Ints
from headgate.model.arrival import Arrival


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Samples of sources, in any order, and whose they are."""

    columns: Columns
    """Those of `stretches.SERIES`."""
    owner: Ints
    """Row of the vertex of each of these, in the layout of its fleet; -1 for one that is in no graph."""

    @classmethod
    def none(cls) -> Self:
        """Give the series of a fleet in which every job goes by its whole window."""
        nothing = Column(values=np.zeros(0, dtype=np.int64), valid=np.zeros(0, dtype=np.bool_))
        return cls(columns=Columns(columns=dict.fromkeys(SERIES, nothing)), owner=np.zeros(0, dtype=np.int64))

    def between(self, begins: Ints, ends: Ints) -> Series:
        """Keep the samples of vertices (n,) from one tick to another, epoch milliseconds, both included."""
        ticks = self.columns["at_ms"].values
        inside = (self.owner >= 0) & (ticks >= begins[self.owner]) & (ticks <= ends[self.owner])
        return self._only(np.flatnonzero(inside))

    def since(self, tick: int) -> Series:
        """Keep the samples from one tick on, epoch milliseconds."""
        return self._only(np.flatnonzero(self.columns["at_ms"].values >= tick))

    def followed_by(self, newer: Series) -> Series:
        """Put others below these."""
        return Series(columns=stacked([self.columns, newer.columns]), owner=np.concatenate([self.owner, newer.owner]))

    def of(self, sources: Ints, vertices: int) -> Series:
        """Keep the samples of some vertices, which are numbered anew, in the order given."""
        number = np.full(vertices + 1, -1)  # the last one for vertices of no graph
        number[sources] = np.arange(len(sources))
        renamed = Series(columns=self.columns, owner=number[self.owner])
        return renamed._only(np.flatnonzero(renamed.owner >= 0))

    def _only(self, rows: Ints) -> Series:
        return Series(columns=self.columns.rows(rows), owner=self.owner[rows])


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetArrivals:
    """n vertices of m jobs."""

    of_source: Floats
    """(n,) records/s that come into a source since they changed last; NaN where the whole window counts."""
    of_jobs: JobArrivals
    fast: Bools
    """(m,) whether a job goes by it."""

    def of_job(self, place: int) -> Arrival | None:
        """Give what is known of one job; None where the whole window counts."""
        return self.of_jobs.of_job(place) if self.fast[place] else None


def fleet_arrivals(layout: Layout, fast: Bools, series: Series) -> FleetArrivals:
    """Tell what comes into the jobs (m,) that go by it. Finished sources bring nothing."""
    sources = np.flatnonzero(layout.is_source & ~layout.finished & fast[layout.job])
    mine = series.of(sources, len(layout.job))
    known = arrivals(stretches(mine.columns, mine.owner, len(sources)))
    of_source = np.full(len(layout.job), np.nan)
    of_source[sources] = known.rate
    jobs = of_jobs(known, layout.job[sources], len(layout.shapes))
    return FleetArrivals(of_source=of_source, of_jobs=jobs, fast=fast)
