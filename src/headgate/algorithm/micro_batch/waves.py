"""Waves: a stage of P tasks on n cores runs as `ceil(P/n)` tasks one after the other."""

from __future__ import annotations

import numpy as np

from headgate.algorithm.stats import Floats, Ints


def waves(tasks: Ints | int, cores: Ints | int) -> Ints:
    """Give how many tasks of a stage run one after the other: `ceil(P/n)`, at least one of either."""
    return -(-np.asarray(tasks) // np.maximum(cores, 1))


def wave_share(tasks: Ints | int, cores: Ints | int) -> Floats:
    """
    Give the share of a stage's task time that passes while it runs: `ceil(P/n) / P`.

    Tasks count as equally long. Source: measured step test (2039, 1294, 884, 758 ms on 1 to 4 cores, 8 tasks).
    """
    return waves(tasks, cores) / np.maximum(tasks, 1)


def fewest_cores(tasks: int, cores: int) -> int:
    """Give the fewest cores with no more waves than so many cores have."""
    return int(waves(tasks, int(waves(tasks, cores))))
