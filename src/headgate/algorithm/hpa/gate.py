"""
The gate: which windows may be decided by, those that lie wholly after the last change of the number of workers.

A window that reaches back before a change mixes what fewer workers did, and the standstill between, with the number of
workers of now: the same backlog is answered again and again, each time from a larger number.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from headgate.algorithm.stats import Floats

LATE = 2.5
"""How many times as long as usual nothing may be sampled."""


def windows(at_s: Floats, length_s: float, changed_at_s: float) -> Iterator[tuple[int, int]]:
    """
    Yield the first and the last sample of every window that may be decided by, in the order of their ends.

    A window ends at a sample. It may begin no earlier than the change, and must be sampled from its begin on: its first
    sample comes no later than samples may be late.
    Source: published evaluations of the paper's policy needed 3 to 7 times fewer workers with this gate.

    Args:
        at_s: when samples were taken, seconds, increasing.
        length_s: of a window, above zero.
        changed_at_s: when the number of workers last changed, on the same clock; minus infinity opens the gate.
    """
    begins = at_s - length_s
    firsts = np.searchsorted(at_s, begins)
    sampled = at_s[firsts] - begins <= patience(at_s, length_s)
    for last in np.flatnonzero((begins >= changed_at_s) & sampled & (firsts < np.arange(len(at_s)))).tolist():
        yield int(firsts[last]), last


def patience(at_s: Floats, length_s: float) -> float:
    """
    Give how long a sample may be awaited before a hole is in what is known, seconds; 0 for fewer than two samples.

    One that is left out and a next one that comes a little late make none; the usual time between two counts, not the
    longest, which may be a hole itself. Never more than a window: nothing of that would have been sampled.
    """
    return min(LATE * float(np.median(np.diff(at_s))), length_s) if len(at_s) > 1 else 0.0


def resumed(at_s: Floats, patience_s: float) -> float:
    """Give the first of the instants, one at least, behind which there is no hole any more."""
    holes = np.flatnonzero(np.diff(at_s) > patience_s)
    return float(at_s[holes[-1] + 1 if len(holes) else 0])
