"""
What a batch costs, the sizes that follow, and the fewest core-seconds that anybody could have paid.

All of it knows the load. It shares the model `T(n) = a + (w + b * rows) * ceil(P/n)/P` with Headgate, and no code.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

UTILIZATION = 0.7
"""Share of what a size could do that it is given: of both static sizes, of the optimum, and Headgate's target."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchCost:
    """How long a micro-batch takes."""

    base_s: float
    """a: outside of tasks."""
    waves_s: float
    """w: of all tasks together, without any row."""
    row_s: float
    """b: of a row, wherever its task runs."""
    partitions: int
    interval_s: float
    """Between two triggers, which a batch should keep."""
    most_cores: int
    """That there can be."""

    @classmethod
    def fitted(
        cls, seen: Sequence[tuple[int, float, float]], *, partitions: int, interval_s: float, most_cores: int
    ) -> Self:
        """
        Fit it by least squares.

        Args:
            seen: cores, rows and seconds of batches, at two sizes or more: one alone tells `a` and `w` not apart.
            partitions: P.
            interval_s: between two triggers.
            most_cores: that there can be.
        """
        waves = np.array([math.ceil(partitions / cores) / partitions for cores, _, _ in seen])
        rows, took_s = (np.array([each[column] for each in seen]) for column in (1, 2))
        base_s, waves_s, row_s = np.linalg.lstsq(np.stack([waves**0, waves, waves * rows], axis=1), took_s)[0]
        return cls(
            base_s=float(base_s),
            waves_s=float(waves_s),
            row_s=float(row_s),
            partitions=partitions,
            interval_s=interval_s,
            most_cores=most_cores,
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """The useful numbers of cores: with one less there is another wave."""
        counts = range(1, min(self.partitions, self.most_cores) + 1)
        return tuple(n for n in counts if n == 1 or self._waves(n) < self._waves(n - 1))

    def capacity_per_s(self, cores: int) -> float:
        """Give the rate whose batches just fill their interval."""
        share = self._waves(cores) / self.partitions
        rows = (self.interval_s - self.base_s - self.waves_s * share) / (self.row_s * share)
        return max(0.0, rows / self.interval_s)

    def cores_for(self, per_s: float, *, utilization: float = UTILIZATION) -> int:
        """Give the fewest cores that bear a rate at that utilization; the most of use where none do."""
        enough = (n for n in self.sizes if per_s <= utilization * self.capacity_per_s(n) + _ROUNDING)
        return next(enough, self.sizes[-1])

    def _waves(self, cores: int) -> int:
        return math.ceil(self.partitions / cores)


def optimal_cores(rates: Sequence[float], cost: BatchCost, *, start_up_s: float) -> list[int]:
    """
    Give the cores of each second that cost the least and always suffice.

    A core that is needed has begun to start so long before: each second pays for the most that is needed from then
    until a start-up later. Whoever let a core go for a shorter time than it takes to start would pay no less.

    Args:
        rates: rows/s, one for each second.
        cost: of a batch.
        start_up_s: from when an executor is paid for until it runs tasks.
    """
    needed = [cost.cores_for(rate) for rate in rates]
    ahead = math.ceil(start_up_s)
    return [max(needed[second : second + ahead + 1]) for second in range(len(needed))]
