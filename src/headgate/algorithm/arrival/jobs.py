"""What comes into all sources of a job together."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np

from headgate.algorithm.arrival.estimate import Arrivals
from headgate.algorithm.rates import ieee
from headgate.algorithm.stats import Bools, Floats, Ints
from headgate.model.arrival import Arrival


@dataclass(frozen=True, slots=True, kw_only=True)
class JobArrivals:
    """The input of m jobs; every array has shape (m,)."""

    per_s: Floats
    """Records/s; NaN where nothing is known of a source since it changed."""
    error: Floats
    """Standard error, as a share of them; infinite where that cannot be told."""
    lasted_s: Floats
    """How long all sources have been so; infinite for a job without any."""
    changed: Bools
    """Whether any of them has changed."""
    rising: Bools
    """Whether any of them has been rising since."""
    saturated: Bools
    """Whether any of them reads all it can, while more comes in."""
    means: Floats
    """(m, j) records/s on average over ever longer times until now; NaN where that cannot be told."""
    means_s: Floats
    """(m, j) how long these are; infinite for a job without any source."""

    def of_job(self, place: int) -> Arrival:
        """Give what is known of one job."""
        return Arrival(
            per_s=_finite(self.per_s[place]),
            error=_finite(self.error[place]),
            lasted_s=float(self.lasted_s[place]),
            changed=bool(self.changed[place]),
            rising=bool(self.rising[place]),
            saturated=bool(self.saturated[place]),
            means=self._means(place),
        )

    def _means(self, place: int) -> tuple[tuple[float, float], ...]:
        """Give each once: a job that is told of beside others with longer pasts has its longest time more often."""
        pairs = zip(self.means_s[place].tolist(), self.means[place].tolist(), strict=True)
        return tuple(dict.fromkeys(pair for pair in pairs if all(map(isfinite, pair))))


@ieee
def of_jobs(known: Arrivals, job: Ints, jobs: int) -> JobArrivals:
    """
    Put the sources of each job together; their errors are taken to be independent.

    Args:
        known: of n sources.
        job: the job of each of these, 0 to `jobs` - 1.
        jobs: how many there are.
    """
    per_s = np.bincount(job, weights=known.rate, minlength=jobs).astype(np.float64)
    error = np.sqrt(np.bincount(job, weights=known.error**2, minlength=jobs))
    lasted_s = np.full(jobs, np.inf)
    np.minimum.at(lasted_s, job, known.lasted_s)
    means, means_s = (np.full((jobs, known.means.shape[1]), value) for value in (0.0, np.inf))
    np.add.at(means, job, known.means)
    np.minimum.at(means_s, job, known.means_s)
    return JobArrivals(
        per_s=per_s,
        error=np.where(error == 0, 0.0, np.where(per_s > 0, error / per_s, np.inf)),
        lasted_s=lasted_s,
        changed=np.bincount(job, weights=known.changed, minlength=jobs) > 0,
        rising=np.bincount(job, weights=known.rising, minlength=jobs) > 0,
        saturated=np.bincount(job, weights=known.saturated, minlength=jobs) > 0,
        means=means,
        means_s=means_s,
    )


def _finite(number: np.float64) -> float | None:
    return float(number) if np.isfinite(number) else None
