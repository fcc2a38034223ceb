"""What the owner of what a job reads tells of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Protocol

from headgate.model.identity import JobKey
from headgate.ports.collecting import Missing
from headgate.ports.jobs import JobContext

Ends = Mapping[tuple[str, int], float]
"""By topic, as the engine's metrics call it, and partition: the offset that its next record will have."""
Begins = Mapping[tuple[str, int], float]
"""The same, with the offset of the first record that is still there."""


class EndOffsets(Protocol):
    """Knows where the topics end that jobs read."""

    def serves(self, ctx: JobContext, /) -> bool:
        """Tell whether anybody is declared who could tell for this job; whoever else asks gets what is missing."""

    async def read(self, ctx: JobContext, topics: Collection[str], at: datetime, /) -> Ends | Missing:
        """
        Tell where all partitions of these topics ended at an instant that has just been.

        Args:
            ctx: the job.
            topics: as the engine's metrics call them, where a dot may have become another sign.
            at: the instant, by our own clock.

        Returns:
            What is missing, when one of the topics is not to be had.

        Raises:
            TransientError: whoever could tell gave no answer.
        """

    def forget(self, job: JobKey, /) -> None:
        """Drop what is remembered of a job; it is gone."""

    async def begins(self, ctx: JobContext, topics: Collection[str], /) -> Begins | Missing:
        """
        Tell where all partitions of these topics begin, now.

        Raises:
            TransientError: whoever could tell gave no answer.
        """
