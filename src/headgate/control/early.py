"""What is done between the usual ticks: looking at jobs that are changing, and deciding for them at once."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from operator import is_

from headgate.control.alertness import Alertness
from headgate.control.cycle import Cycle
from headgate.control.observation import Observation, Observer
from headgate.model.decision import Decision
from headgate.model.identity import JobKey
from headgate.options.live import Live, in_force

CLOSELY = timedelta(seconds=1)

_STALE = 3 / 4
"""Share of the interval after which a sample is due again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyTicks:
    """Looks again at the jobs that are changing, and decides for those of which enough is known."""

    observers: tuple[Observer, ...]
    cycle: Cycle
    interval: Live[timedelta] = CLOSELY
    """How often it looks."""
    alertness: Alertness = field(default_factory=Alertness)
    _noted: list[Mapping[JobKey, Observation]] = field(default_factory=list, init=False)
    _noting: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    """Held while samples are taken in, in a thread; who is due is asked for only before or after it."""
    _under_way: set[asyncio.Task[None]] = field(default_factory=set, init=False)
    """What clusters were asked for and have not answered yet."""

    @property
    def latest(self) -> Mapping[JobKey, Observation]:
        """What is known of the jobs that are this process's, with the options that people have ordered."""
        outbox = self.cycle.outbox
        return {
            job: replace(seen, ctx=outbox.book.applied(seen.ctx))
            for observer in self.observers
            for job, seen in observer.latest.items()
            if outbox.looks_after(job)
        }

    async def look(self, at: datetime) -> None:
        """
        Take in what the usual ticks have seen, and another sample of each job that is changing unless it has one.

        A cluster that takes longer than the interval to answer is not waited for: its samples count as they come.
        """
        await self.note()
        again = [job for job in self.alertness.changing if self._is_to_be_seen(job, at)]
        begun = [
            asyncio.create_task(observer.observe_again(again, at))
            for observer in self.observers
            if not observer.latest.keys().isdisjoint(again)
        ]
        if begun:
            self._under_way.update(begun)
            await asyncio.wait(begun, timeout=in_force(self.interval).total_seconds())
            await self._take_leave({task for task in self._under_way if task.done()})
            await self.note()

    async def finish(self, _: datetime) -> None:
        """Wait for what clusters were asked for, before the service stops."""
        await self._take_leave(set(self._under_way))

    async def _take_leave(self, tasks: Collection[asyncio.Task[None]]) -> None:
        """Let go of tasks, and raise what went wrong in them."""
        self._under_way.difference_update(tasks)
        await asyncio.gather(*tasks)

    def _is_to_be_seen(self, job: JobKey, at: datetime) -> bool:
        known = (observer.latest.get(job) for observer in self.observers)
        sampled = [seen.sample.at for seen in known if seen and seen.sample]
        return not sampled or at - max(sampled) >= in_force(self.interval) * _STALE

    async def note(self) -> None:
        """Take in what was seen last, if anything was since."""
        seen = [observer.latest for observer in self.observers]
        if len(seen) == len(self._noted) and all(map(is_, seen, self._noted)):
            return
        self._noted[:] = seen
        async with self._noting:
            await asyncio.to_thread(self.alertness.note, self.latest)

    async def decide(self, at: datetime) -> tuple[Decision, ...]:
        """Decide for the jobs that are due, by what was seen last."""
        async with self._noting:
            due = self.alertness.take_due()
        seen = {job: one for job, one in self.latest.items() if job in due}
        return await self.cycle.run_early(seen, at) if seen else ()
