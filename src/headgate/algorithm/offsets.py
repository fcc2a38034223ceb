"""
How much waits in the partitions that a source reads, from where they end and how far they were read.

Unlike the formulas over arrays these run at every sample, one source at a time.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

P = TypeVar("P", bound=Hashable)

_GAPS, _FEW = 1.1, 100
"""Offsets that are no records, as transactions leave them behind: a share of the records, and some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Positions(Generic[P]):
    """How far a source has read, by partition; one of which nothing is known is absent."""

    emitted: Mapping[P, float]
    """Offset of the last record that was passed on; below 0 before the first one of a run."""
    committed: Mapping[P, float]
    """Offset of the first record that the latest checkpoint has not; below 0 before the first one."""

    def next_of(self, partition: P) -> float | None:
        """
        Give the offset of the next record to be read; None when unknown.

        The larger of both: after a restart nothing is passed on yet of a partition that waits for its turn, and it goes
        on from where the checkpoint was.
        """
        emitted, committed = self.emitted.get(partition, -1), self.committed.get(partition, -1)
        return None if emitted < 0 and committed < 0 else max(emitted + 1, committed)


def starts(begins: Mapping[P, float], positions: Positions[P], read: float) -> Mapping[P, float]:
    """
    Give where the partitions begin of which nothing is known yet, if the source has begun there; else none.

    It has if all that it is known to be away from the beginnings is what it has read. One that began at the ends, or at
    some time, is much further.

    Args:
        begins: the offset of the first record of each partition.
        positions: how far they were read.
        read: records that the source has read since it began.
    """
    known = {one: position for one in begins if (position := positions.next_of(one)) is not None}
    away = sum(max(0.0, position - begins[one]) for one, position in known.items())
    if not known or away > read * _GAPS + _FEW:
        return {}
    return {one: begin for one, begin in begins.items() if one not in known}


def lags(ends: Mapping[P, float], positions: Positions[P]) -> Mapping[P, float]:
    """
    Give the records that wait in each partition; those of which nobody knows how far they were read are left out.

    Args:
        ends: the offset that the next record written will have.
        positions: how far they were read.
    """
    known = ((one, end, positions.next_of(one) if end > 0 else 0.0) for one, end in ends.items())
    return {one: max(0.0, end - read) for one, end, read in known if read is not None}


def without_marks(waiting: Mapping[P, float]) -> Mapping[P, float]:
    """Take what may be no records for nothing, of a source that has read all there were."""
    return {one: lag if lag > _FEW else 0.0 for one, lag in waiting.items()}


def fullest_share(work: Mapping[P, float]) -> float | None:
    """Give the share, 0 to 1, of all records that the partition with most of them holds; None when there are none."""
    total = sum(work.values())
    return max(work.values()) / total if total > 0 else None
