"""The workers of a cluster whose jobs' realizer asks for them: as many as it asked for last, within their bounds."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta

from headgate.control.reactive import reports
from headgate.options.live import Live, in_force
from headgate.options.reactive import WorkersOptions
from headgate.ports import EventHandler, ResourceProvider

_BOUNDS = "these are the bounds of their number"
_MISSING = "one was missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptCluster:
    """A cluster that gets its first workers, and a new one for each that died, from here; nothing else."""

    name: str
    provider: ResourceProvider
    options: Live[WorkersOptions]

    async def keep(self, events: EventHandler, now: datetime, *, time_limit: timedelta, as_asked: bool = False) -> None:
        """Ask for what was asked for last, within the bounds unless it is to be just that; never raises."""
        try:
            async with asyncio.timeout(time_limit.total_seconds()):
                await self._ask(events, now, as_asked=as_asked)
        except Exception as error:  # noqa: BLE001 - one provider's failure is its cluster's event, whatever it is
            limit = f"no answer within {time_limit.total_seconds():g} s" if isinstance(error, TimeoutError) else ""
            events.handle(reports.workers_failed(self.name, limit or str(error) or type(error).__name__, now))

    async def _ask(self, events: EventHandler, now: datetime, *, as_asked: bool) -> None:
        options, asked = in_force(self.options), (await self.provider.workers()).wanted
        count = asked if as_asked else min(max(asked, options.least), options.most)
        if await self.provider.request(count):
            why = _MISSING if count == asked else _BOUNDS
            events.handle(reports.workers_requested(self.name, count, asked, why, now))
