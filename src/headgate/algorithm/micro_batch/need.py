"""
How many cores an application needs: the fewest on which each query alone keeps up, and all of them fit together.

More are taken only if the cheap end of what is known of the costs asks for it, fewer only if the dear end allows it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from headgate.algorithm.capacity import Band
from headgate.algorithm.micro_batch.capacity import Costs, Pace, capacity, occupancy
from headgate.algorithm.micro_batch.learnt import Learnt
from headgate.algorithm.stats import Bools, Floats, Ints

EQUAL = 1e-9
"""Share by which capacities may differ that are one."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ends:
    """What queries do by what their costs are taken for, (q, n) arrays of rows/s over the candidates."""

    cores: Ints
    """(n,) candidates, increasing."""
    here: int
    """Place of the cores that there are."""
    cheap: Floats
    usual: Floats
    dear: Floats

    @property
    def best(self) -> Bools:
        """(q,) Which queries no candidate makes faster than they are, even at the cheap end: their batches are full."""
        best: Bools = self.cheap.max(axis=1) <= self.cheap[:, self.here] * (1 + EQUAL)
        return best

    @classmethod
    def of(cls, learnt: Learnt, pace: Pace, cores: Ints, running: int) -> Ends:
        """
        Work all three out; an end is the best or the worst that any split of a batch's cost gives.

        The running number of cores is one of the candidates.
        """
        return cls(
            cores=cores,
            here=int(np.searchsorted(cores, running)),
            cheap=np.max([capacity(costs, pace, cores) for costs in learnt.cheap()], axis=0),
            usual=capacity(learnt.costs, pace, cores),
            dear=np.min([capacity(costs, pace, cores) for costs in learnt.dear()], axis=0),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Wish:
    """What all queries have to do, (q,) arrays."""

    needed: Floats
    """Rows/s that each should be able to do: at its utilization target, catching up included."""
    band: Band
    """Between which rates it is left alone."""
    keeps: Bools
    """Which queries never shrink."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Need:
    """How many cores are wanted, and by whom; all are candidates."""

    alone: Ints
    """(q,) for each query by itself."""
    together: int
    """For all of them at the same time."""
    wanted: int
    """Of the application."""


def need(learnt: Learnt, pace: Pace, ends: Ends, wish: Wish) -> Need:
    """
    Choose the number of cores.

    A query that is too slow on any number of cores asks for no more than those on which it does its best.
    """
    here = ends.cores[ends.here : ends.here + 1]
    slow = ends.cheap[:, ends.here] < wish.band.scale_up
    stuck = slow & ends.best
    least = np.where(stuck, np.minimum(wish.band.scale_up, ends.cheap[:, ends.here]), wish.band.scale_up)
    if (slow & ~stuck).any() or min(_taken(learnt.cheap(), pace, least, here)) > 1:
        return _grown(learnt, pace, ends, wish)
    return _shrunk(learnt, pace, ends, wish, stuck)


def _shrunk(learnt: Learnt, pace: Pace, ends: Ends, wish: Wish, stuck: Bools) -> Need:
    """Choose by what costs may be at most, among the running number of cores and fewer."""
    running = int(ends.cores[ends.here])
    rates = np.where(stuck, np.minimum(wish.needed, ends.dear.max(axis=1)), wish.needed)
    alone = np.where(wish.keeps, running, _fewest(ends.cores, ends.dear, rates))
    together = _fitting(learnt.dear(), pace, rates, ends.cores)
    large = (stuck | (ends.usual[:, ends.here] > wish.band.scale_down)).all()
    wanted = max(int(alone.max()), together) if large else running
    return Need(alone=alone, together=together, wanted=min(wanted, running))


def _grown(learnt: Learnt, pace: Pace, ends: Ends, wish: Wish) -> Need:
    """Choose by what costs usually are; where nothing is enough, the fewest cores on which a query does its best."""
    alone = _fewest(ends.cores, ends.usual, wish.needed)
    together = _fitting([learnt.costs], pace, np.minimum(wish.needed, ends.usual[:, -1]), ends.cores)
    running = int(ends.cores[ends.here])
    return Need(alone=alone, together=together, wanted=max(running, int(alone.max()), together))


def _fewest(cores: Ints, capacities: Floats, needed: Floats) -> Ints:
    """Give the fewest cores that are enough for each query, else the fewest on which it does as well as it can."""
    enough = np.minimum(needed, capacities[:, -1])
    places: Ints = (capacities >= enough[:, None]).argmax(axis=1)
    return cores[places]


def _fitting(all_costs: Iterable[Costs], pace: Pace, rates: Floats, cores: Ints) -> int:
    """Give the fewest cores on which queries that do these rates fit together, all there are where they never do."""
    fits = np.max([occupancy(costs, pace, rates, cores) for costs in all_costs], axis=0) <= 1
    return int(cores[fits.argmax() if fits.any() else -1])


def _taken(all_costs: Iterable[Costs], pace: Pace, rates: Floats, cores: Ints) -> Iterable[float]:
    return (float(occupancy(costs, pace, rates, cores)[0]) for costs in all_costs)
