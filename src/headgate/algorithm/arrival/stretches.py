"""From the samples of sources to what came into each of them between one measurement and the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headgate.algorithm.columns import Column, Columns
from headgate.algorithm.stats import Bools, Ints
from headgate.model.lag import LagOrigin
from headgate.model.measures import SUBUNIT, Measure

MEASURES = (
    Measure.LAG,
    Measure.NUM_RECORDS_IN,
    Measure.ARRIVED,
    Measure.LAG_ORIGIN,
    Measure.ACCUMULATED_IDLE_TIME,
    Measure.ACCUMULATED_BUSY_TIME,
    Measure.ACCUMULATED_BACKPRESSURED_TIME,
)
"""What is read of a source."""
SERIES = ("at_ms", "measured_ms", "epoch", *(measure.column for measure in MEASURES))
"""The columns of `model.tables.SAMPLES` that are read."""

_WAITS_FROM = 0.01
"""Share of the time from which on a source counts as waiting for records: one that is held up idles not at all."""

_MOVES_FROM = 0.02
"""Share of what was read by which a lag has to change to say what comes in: a gauge that is stuck says nothing."""

_DOUBTED = tuple(int(origin) * SUBUNIT for origin in LagOrigin if not origin.is_sure)


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
    saturated: Bools
    """Where the source never waited, and no lag tells how much more came in: it is `came` at least."""

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
    Tell what came in.

    Where its owner counts that (the end offsets of a topic), it is what was written between two looks. Elsewhere it
    is what was read, and by how much the lag grew meanwhile: the input, whether the source keeps up or not. What came
    while either began anew is not known: there is no stretch for it. A source that tells its lag only now and then is
    followed from one such time to the next; one that never does counts as having none. One that has read nothing yet
    and sees nothing waiting may not have opened what it reads: its stretches count from when it began, if it has.

    A lag that is doubted is not used: a connector that fetches far ahead sees it rise and fall, whatever comes in.

    Args:
        samples: rows with the columns of `SERIES`, in any order.
        owner: number of each row's source, 0 to `sources` - 1.
        sources: how many there are.
    """
    lag, read, arrived, origin, *times = (samples[measure.column] for measure in MEASURES)
    tells_lag = np.bincount(owner[lag.valid], minlength=sources) > 0
    infers = read.valid & (lag.valid | ~tells_lag[owner])
    usable = np.flatnonzero(infers | arrived.valid)
    rows = usable[np.lexsort((samples["at_ms"].values[usable], owner[usable]))]
    of, epoch, took_ms = owner[rows], samples["epoch"].values[rows], np.diff(samples["measured_ms"].values[rows])
    counted, was_read = np.diff(arrived.values[rows]), np.diff(read.values[rows])
    doubted = ~_both(~(origin.valid[rows] & np.isin(origin.values[rows], _DOUBTED)))
    grew = np.where(doubted, 0, np.diff(np.where(lag.valid[rows], lag.values[rows], 0)))
    follows = (of[1:] == of[:-1]) & (epoch[1:] == epoch[:-1]) & (took_ms > 0)
    counts = _both(arrived.valid[rows])
    opened = ~_unopened(of, epoch, read.values[rows], lag.values[rows])[:-1]
    saturated = ~counts & _never_waits(times, rows, took_ms) & (was_read > 0) & (np.abs(grew) <= _MOVES_FROM * was_read)
    whole = np.flatnonzero(follows & (counts | (_both(infers[rows]) & opened)))
    came = np.where(counts, counted, was_read + grew)
    return _aligned(of[1:][whole], took_ms[whole], came[whole], saturated[whole], sources)


def _unopened(of: Ints, epoch: Ints, read: Ints, lag: Ints) -> Bools:
    """Tell for each row whether its source had not begun to read by then, though it has by now, since it started."""
    starts = np.flatnonzero(np.r_[True, (of[1:] != of[:-1]) | (epoch[1:] != epoch[:-1])])
    most = np.maximum.reduceat(read, starts) if len(read) else read
    begins_later = np.repeat(most > 0, np.diff(np.r_[starts, len(read)]))
    unopened: Bools = begins_later & (read == 0) & (lag == 0)
    return unopened


def _never_waits(times: Sequence[Column], rows: Ints, took_ms: Ints) -> Bools:
    """
    Tell where a source did not wait for records, by its idle, busy and back-pressured time, thousandths of ms.

    A source of the old kind (`SourceFunction`) measures none of them: it seems never to idle.
    """
    known: Bools = _both(np.logical_and.reduce([time.valid[rows] for time in times]))
    idle, busy, held_up = (np.diff(time.values[rows]) for time in times)
    measured = busy + held_up > (1 - _WAITS_FROM) * SUBUNIT * took_ms
    return known & measured & (idle < _WAITS_FROM * SUBUNIT * took_ms)


def _both(flags: Bools) -> Bools:
    """Tell for each row but the first whether it and the one before it are flagged."""
    pairs: Bools = flags[1:] & flags[:-1]
    return pairs


def _aligned(of: Ints, took_ms: Ints, came: Ints, saturated: Bools, sources: int) -> Stretches:
    """Put the stretches of each source beside each other, its newest one into the last column."""
    counts = np.bincount(of, minlength=sources)
    width = int(counts.max(initial=0))
    column = np.arange(len(of)) - np.cumsum(counts)[of] + width
    placed = np.zeros((3, sources, width), dtype=np.int64)
    placed[0, of, column], placed[1, of, column], placed[2, of, column] = took_ms, came, saturated
    return Stretches(took_ms=placed[0], came=placed[1], saturated=placed[2] > 0)
