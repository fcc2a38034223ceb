"""Raising a job's memory instead of taking its rescale back: the port that a rollback asks first."""

from __future__ import annotations

from typing import Protocol

from headgate.model.rollback import Evidence, Trial
from headgate.model.samples import JobSample
from headgate.ports import JobContext


class MemoryRaise(Protocol):
    """Gives a job that its rescale made sick more memory (FLINK-37411, with memory tuning)."""

    async def raise_for(
        self, ctx: JobContext, trial: Trial, evidence: Evidence, sample: JobSample | None, /
    ) -> str | None:
        """
        Ask for more memory, once for a trial: that it was asked for is saved before.

        Args:
            ctx: the job, with the aftermath of its rescale.
            trial: the rescale.
            evidence: what is wrong; it tells what the job is short of.
            sample: the newest that was ever taken; None for none.

        Returns:
            None where it was asked for; else why it cannot be, in one sentence, and the rescale is taken back.

        Raises:
            HeadgateError: it failed, and the rescale is taken back.
        """


class NoMemoryRaise:
    """Raises nothing: nobody is there who could give workers more memory."""

    async def raise_for(
        self, _ctx: JobContext, _trial: Trial, _evidence: Evidence, _sample: JobSample | None, /
    ) -> str | None:
        """Say so."""
        return "nothing here can give its workers more memory"
