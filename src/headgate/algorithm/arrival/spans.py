"""What came in on average over ever longer times until now: what a size has cost since any instant follows from it."""

from __future__ import annotations

import numpy as np

from headgate.algorithm.arrival.suffixes import Suffixes
from headgate.algorithm.rates import ieee
from headgate.algorithm.stats import Floats, Ints


@ieee
def means(sums: Suffixes, known: Ints) -> tuple[Floats, Floats]:
    """
    Give seconds, and the mean rate over them, of the newest 1, 2, 4, 8 ... stretches and of all, (n, j) each.

    Sources with fewer have their longest time again; NaN stands for the mean over none.

    Args:
        sums: of the stretches.
        known: how many stretches each source has, (n,).
    """
    width = sums.took_s.shape[1] - 1
    counts = np.append(2 ** np.arange(max(width - 1, 0).bit_length()), width)
    columns = width - np.minimum(counts[None, :], known[:, None])
    took_s, came = (np.take_along_axis(each, columns, axis=1) for each in (sums.took_s, sums.came))
    return took_s, came / took_s
