"""Whether reactive jobs are fit for it: looked at when they are first seen, and now and then after that."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from headgate.algorithm.reactive.facts import facts_of
from headgate.algorithm.suitability import Facts, unsuitable
from headgate.control.selection import has_own_realizer
from headgate.errors import HeadgateError
from headgate.model.identity import JobKey
from headgate.model.samples import JobSample
from headgate.ports import JobContext

FactsFinder = Callable[[JobContext], Awaitable[Facts]]
"""Looks at a job and its cluster; it may raise any `HeadgateError`."""

_AGE = timedelta(minutes=10)
"""How long what was found is believed: most of it changes with a restart of the job alone."""
_PATIENCE = timedelta(seconds=10)


async def nothing_more(_ctx: JobContext) -> Facts:
    """Find nothing that a sample does not tell."""
    return Facts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitness:
    """Judges by what a job's sample tells, and by what a finder adds to that."""

    find: FactsFinder = nothing_more
    _found: dict[JobKey, tuple[str, datetime, Facts]] = field(default_factory=dict, init=False)
    """Of which job id, when, and what."""

    async def why_not(self, ctx: JobContext, sample: JobSample, *, jobs: int, now: datetime) -> tuple[str, ...]:
        """
        Name all that stands against reactive mode; what cannot be found out does not.

        A parallelism that the program sets is no reason here: it is ignored, as the user asked for by the mode. Nor is
        the kind of cluster, as an engine that would be reactive on the wrong one does not start.
        """
        told = facts_of(sample, ctx.options, jobs=jobs, replaced=has_own_realizer(ctx.options))
        found = await self._look(ctx, now)
        return unsuitable(
            replace(
                told,
                streaming=found.streaming,
                checkpoints=found.checkpoints,
                unaligned=found.unaligned,
                fine_grained=found.fine_grained,
            )
        )

    async def _look(self, ctx: JobContext, now: datetime) -> Facts:
        job_id, at, facts = self._found.get(ctx.key, ("", now, Facts()))
        if job_id == ctx.job_id and now - at < _AGE:
            return facts
        try:
            async with asyncio.timeout(_PATIENCE.total_seconds()):
                facts = await self.find(ctx)
        except (HeadgateError, TimeoutError):
            return facts if job_id == ctx.job_id else Facts()
        self._found[ctx.key] = ctx.job_id, now, facts
        return facts
