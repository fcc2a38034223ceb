"""Whether reactive jobs are fit for it: looked at when they are first seen, and now and then after that."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from headgate.algorithm.reactive.facts import facts_of
from headgate.algorithm.suitability import Facts, unsuitable
from headgate.errors import HeadgateError
from headgate.model.identity import JobKey
from headgate.model.samples import JobSample
from headgate.ports import JobContext

FactsFinder = Callable[[JobContext], Awaitable[Facts]]
"""Looks at a job and its cluster; it may raise any `HeadgateError`."""

_AGE = timedelta(minutes=10)
"""How long what was found is believed: most of it changes with a restart of the job alone."""
_RETRY = timedelta(minutes=1)
"""How long a look that failed is not repeated: it may have cost all of the patience."""
_PATIENCE = timedelta(seconds=10)


async def nothing_more(_ctx: JobContext) -> Facts:
    """Find nothing that a sample does not tell."""
    return Facts()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """What a look at a job has found, or one before it where it has failed."""

    job_id: str
    facts: Facts
    until: datetime
    """How long it is believed."""


@dataclass(slots=True, kw_only=True)
class Fitness:
    """Judges by what a job's sample tells, and by what a finder adds to that."""

    find: FactsFinder = nothing_more
    _looks: dict[JobKey, _Look] = field(default_factory=dict, init=False)
    _cleared_at: datetime | None = field(default=None, init=False)
    """When looks that are long over, as those at jobs that are gone, were forgotten last."""

    async def why_not(self, ctx: JobContext, sample: JobSample, *, jobs: int, now: datetime) -> tuple[str, ...]:
        """
        Name all that stands against reactive mode; what cannot be found out does not.

        A parallelism that the program sets is no reason here: it is ignored, as the user asked for by the mode. Nor is
        the kind of cluster, as an engine that would be reactive on the wrong one does not start.
        """
        told = facts_of(sample, ctx.options, jobs=jobs, replaced=ctx.options.has_own_realizer)
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
        self._clear(now)
        known = self._looks.get(ctx.key)
        before = known.facts if known and known.job_id == ctx.job_id else None
        if known and before is not None and now < known.until:
            return before
        found = await self._ask(ctx)
        facts, age = (before or Facts(), _RETRY) if found is None else (found, _AGE)
        self._looks[ctx.key] = _Look(job_id=ctx.job_id, facts=facts, until=now + age)
        return facts

    async def _ask(self, ctx: JobContext) -> Facts | None:
        try:
            async with asyncio.timeout(_PATIENCE.total_seconds()):
                return await self.find(ctx)
        except (HeadgateError, TimeoutError):
            return None

    def _clear(self, now: datetime) -> None:
        if self._cleared_at is None:
            self._cleared_at = now
        if now - self._cleared_at >= _AGE:
            self._cleared_at = now
            self._looks = {job: look for job, look in self._looks.items() if now - look.until < _AGE}
