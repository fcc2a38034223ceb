"""From the samples of sources to what came into each of them between one measurement and the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headgate.algorithm.columns import Columns
from headgate.algorithm.stats import Bools, Ints
from headgate.model.measures import Measure

SERIES = ("at_ms", "measured_ms", "epoch", Measure.LAG.column, Measure.NUM_RECORDS_IN.column)
"""The columns of `model.tables.SAMPLES` that are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretches:
    """
    What came into n sources, stretch by stretch, the newest at the right: (n, k), sources with fewer filled from it.

    Whole numbers, so that a sum is the same whatever else is in the batch.
    """

    took_ms: Ints
    """Length of each stretch; 0 where there is none."""
    came: Ints
    """Thousandths of records; a lag that is told late may make one negative."""

    @property
    def known(self) -> Bools:
        """Where there is a stretch."""
        return self.took_ms > 0

    @property
    def width(self) -> int:
        """Give k."""
        return int(self.took_ms.shape[1])


def stretches(samples: Columns, owner: Ints, sources: int) -> Stretches:
    """
    Tell what came in: what was read, and by how much the lag grew meanwhile.

    That is the rate of the input whether the source keeps up or not. What came while a counter began anew, as in a
    restart, is not known: there is no stretch for it. A source that tells its lag only now and then is followed from
    one such time to the next; one that never does counts as having none.

    Args:
        samples: rows with the columns of `SERIES`, in any order.
        owner: number of each row's source, 0 to `sources` - 1.
        sources: how many there are.
    """
    read, lag = (samples[measure.column] for measure in (Measure.NUM_RECORDS_IN, Measure.LAG))
    tells_lag = np.bincount(owner[lag.valid], minlength=sources) > 0
    usable = np.flatnonzero(read.valid & (lag.valid | ~tells_lag[owner]))
    rows = usable[np.lexsort((samples["at_ms"].values[usable], owner[usable]))]
    arrived = read.values[rows] + np.where(lag.valid[rows], lag.values[rows], 0)
    of, epoch, taken_ms = owner[rows], samples["epoch"].values[rows], samples["measured_ms"].values[rows]
    took_ms = np.diff(taken_ms)
    whole = np.flatnonzero((of[1:] == of[:-1]) & (epoch[1:] == epoch[:-1]) & (took_ms > 0))
    return _aligned(of[1:][whole], took_ms[whole], np.diff(arrived)[whole], sources)


def _aligned(of: Ints, took_ms: Ints, came: Ints, sources: int) -> Stretches:
    """Put the stretches of each source beside each other, its newest one into the last column."""
    counts = np.bincount(of, minlength=sources)
    width = int(counts.max(initial=0))
    column = np.arange(len(of)) - np.cumsum(counts)[of] + width
    placed = np.zeros((2, sources, width), dtype=np.int64)
    placed[0, of, column], placed[1, of, column] = took_ms, came
    return Stretches(took_ms=placed[0], came=placed[1])
