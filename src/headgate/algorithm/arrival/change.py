"""Where a rate changed last: a split of its stretches whose two sides differ by more than it varies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headgate.algorithm.arrival.suffixes import Suffixes
from headgate.algorithm.arrival.variation import LIMIT
from headgate.algorithm.rates import ieee
from headgate.algorithm.stats import Floats, Ints

_LEAST_DIFFERENCE = 0.1
"""As a share of the larger side: what is less makes no other parallelism."""

_MOST_CUTS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class LastParts:
    """The last two parts that the stretches of each source fall into, by their first columns, (n,)."""

    before: Ints
    """Of the part before the last one; the same as `last` where nothing changed."""
    last: Ints


@ieee
def variance(rate: Floats, variation: Floats) -> Floats:
    """Give the variance of a rate over one second: what it was seen to be, and that of counting at least."""
    return np.maximum(variation * rate**2, np.abs(rate))


def last_parts(sums: Suffixes, known: Ints, variation: Floats) -> LastParts:
    """
    Find the newest part of each source that no split divides; all of it where nothing changed.

    Splits are tried so that the newer or the older side has 1, 2, 4, 8 ... stretches: what changed is seen as soon as
    it can be, and until none of what was before is left. Where one divides, the most likely split is looked for, and
    then the newer side is tried in the same way. So a change is found whatever came before it.
    Source: Bifet and Gavalda 2007 (ADWIN), windows cut at exponential distances; the split by the likelihood ratio of
    two normal means (Hinkley 1970).

    Args:
        sums: of the stretches.
        known: how many stretches each source has, (n,).
        variation: of each source's rate, (n,).
    """
    width = sums.took_s.shape[1] - 1
    last = width - known
    before = last.copy()
    distances = 2 ** np.arange(max(width - 1, 0).bit_length())
    every = np.arange(width)[None, :]
    divided = np.arange(len(last))
    for _ in range(_MOST_CUTS):
        older = np.minimum(last[divided, None] + distances, width - 1)
        newer = np.broadcast_to(width - distances, older.shape)
        some = np.concatenate([newer, older], axis=1)
        differs = apart(sums, last[divided], variation[divided], divided, some) > LIMIT**2
        divided = divided[differs.any(axis=1)]
        if not len(divided):
            break
        before[divided] = last[divided]
        last[divided] = apart(sums, last[divided], variation[divided], divided, every).argmax(axis=1)
    return LastParts(before=before, last=last)


@ieee
def apart(sums: Suffixes, begins: Ints, variation: Floats, rows: Ints, splits: Ints) -> Floats:
    """
    Give the squared distance, in standard errors, between the two sides of each split; 0 where it is none.

    Args:
        sums: of all sources.
        begins: where the older side begins, (r,).
        variation: of these sources' rates, (r,).
        rows: the sources that are asked about, (r,).
        splits: where the newer side begins, (r, s) or (1, s).
    """
    begin = begins[:, None]
    whole_s, whole = (np.take_along_axis(each[rows], begin, axis=1) for each in (sums.took_s, sums.came))
    newer_s, newer = sums.took_s[rows[:, None], splits], sums.came[rows[:, None], splits]
    after, before = newer / newer_s, (whole - newer) / (whole_s - newer_s)
    squared = (after - before) ** 2 / (
        variance(whole / whole_s, variation[:, None]) * (1 / newer_s + 1 / (whole_s - newer_s))
    )
    differs = np.abs(after - before) > _LEAST_DIFFERENCE * np.maximum(np.abs(after), np.abs(before))
    return np.where((splits > begin) & differs & ~np.isnan(squared), squared, 0.0)
