"""What comes into all sources of a fleet now, and into each job as a whole."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from headgate.algorithm.arrival.estimate import arrivals
from headgate.algorithm.arrival.stretches import SERIES, stretches
from headgate.algorithm.columns import Column, Columns
from headgate.algorithm.fleet import Layout
from headgate.algorithm.rates import ieee
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
        kept = np.flatnonzero(inside)
        return Series(columns=self.columns.rows(kept), owner=self.owner[kept])


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetArrivals:
    """n vertices of m jobs; NaN in all numbers of a job that goes by its whole window."""

    of_source: Floats
    """(n,) records/s that come into a source since they changed last; NaN where that is not known."""
    per_s: Floats
    """(m,) records/s that come into all sources of a job."""
    error: Floats
    """(m,) standard error, as a share of them."""
    lasted_s: Floats
    """(m,) how long all of its sources have been so."""
    changed: Bools
    """(m,)"""

    def of_job(self, place: int) -> Arrival | None:
        """Give what is known of one job; None where the whole window counts."""
        lasted_s = float(self.lasted_s[place])
        if math.isnan(lasted_s):
            return None
        return Arrival(
            per_s=float(self.per_s[place]),
            error=float(self.error[place]),
            lasted_s=lasted_s,
            changed=bool(self.changed[place]),
        )


@ieee
def fleet_arrivals(layout: Layout, fast: Bools, series: Series) -> FleetArrivals:
    """
    Tell what comes in, of the jobs (m,) for which it counts from its last change on.

    The errors of a job's sources are taken to be independent. Finished sources bring nothing.
    """
    if not fast.any():
        return _all_windowed(layout)
    jobs, rows = len(layout.shapes), len(layout.job)
    sources = np.flatnonzero(layout.is_source & ~layout.finished & fast[layout.job])
    number = np.full(rows + 1, -1)  # the last one for rows of no graph
    number[sources] = np.arange(len(sources))
    owner = number[series.owner]
    mine = np.flatnonzero(owner >= 0)
    known = arrivals(stretches(series.columns.rows(mine), owner[mine], len(sources)))
    of_source = np.full(rows, np.nan)
    of_source[sources] = known.rate
    job = layout.job[sources]
    per_s = np.bincount(job, weights=known.rate, minlength=jobs).astype(np.float64)
    error = np.sqrt(np.bincount(job, weights=known.error**2, minlength=jobs))
    lasted_s = np.full(jobs, np.inf)
    np.minimum.at(lasted_s, job, known.lasted_s)
    return FleetArrivals(
        of_source=of_source,
        per_s=per_s,
        error=np.where(error == 0, 0.0, np.where(per_s > 0, error / per_s, np.inf)),
        lasted_s=np.where(fast, lasted_s, np.nan),
        changed=np.bincount(job, weights=known.changed, minlength=jobs) > 0,
    )


def _all_windowed(layout: Layout) -> FleetArrivals:
    unknown = np.full(len(layout.shapes), np.nan)
    return FleetArrivals(
        of_source=np.full(len(layout.job), np.nan),
        per_s=unknown,
        error=unknown,
        lasted_s=unknown,
        changed=np.zeros(len(layout.shapes), dtype=np.bool_),
    )
