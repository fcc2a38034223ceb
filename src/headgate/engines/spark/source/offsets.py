"""
How rows are spread over partitions, and how many of the waiting ones a batch may take. Pure.

Deterministic, so that a restart from a checkpoint reads the very same rows again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def share(partitions: int, skew: float) -> tuple[float, ...]:
    """
    Return the share of the rows that each partition gets; they add up to 1.

    Args:
        partitions: at least 1.
        skew: partition `p` gets rows in proportion to `1 / (p + 1) ** skew` (Zipf); 0 makes all alike.
    """
    weights = [1 / (number + 1) ** skew for number in range(partitions)]
    return tuple(weight / sum(weights) for weight in weights)


def heads(rows: float, shares: Sequence[float]) -> tuple[int, ...]:
    """
    Return the next offset of each partition after so many rows of the load.

    Equal shares take turns, one row after the other: by Hermite's identity, `sum(floor(x / n + p / n))` over
    `p < n` is `floor(x)`.
    """
    count = len(shares)
    return tuple(math.floor(rows * each + number / count) for number, each in enumerate(shares))


def admit(start: Sequence[int], head: Sequence[int], most: int) -> tuple[int, ...]:
    """
    Return the offsets until which a batch of at most so many rows reads.

    Each partition gives in proportion to what waits in it. What rounding takes from one partition the next ones
    get, so that a batch is full whenever enough waits, however small the limit.
    """
    waiting = [max(0, end - begin) for begin, end in zip(start, head, strict=True)]
    total = sum(waiting)
    if total <= most:
        return tuple(max(begin, end) for begin, end in zip(start, head, strict=True))
    admitted, seen, given = [], 0, 0
    for begin, rows in zip(start, waiting, strict=True):
        seen += rows
        until = seen * most // total
        admitted.append(begin + until - given)
        given = until
    return tuple(admitted)
