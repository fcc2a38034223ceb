"""Keeps what the decisions of a cycle depended on beside samples, so that they can be made again from the log."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from headgate.control import reports
from headgate.control.observation import Observation
from headgate.control.outbox import Held
from headgate.control.restarts import Restarts
from headgate.model.downtime import Downtime
from headgate.model.identity import JobKey
from headgate.model.state import VersionedState
from headgate.options.live import Live, in_force
from headgate.options.service import Mode
from headgate.ports import Circumstances, CircumstanceSink, EventHandler


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorder:
    """Records every cycle; a failure is an event, and leaves the cycle as it is."""

    sink: CircumstanceSink
    events: EventHandler
    collect_interval: Live[timedelta]
    restarts: Restarts
    mode: Live[Mode]

    async def record(
        self, seen: Mapping[JobKey, Observation], held: Mapping[JobKey, Held], now: datetime, *, early: bool = False
    ) -> None:
        """
        Keep the circumstances of the jobs that could be opened.

        Args:
            seen: the jobs as the cycle observed them.
            held: their states as it opened them.
            now: when it began.
            early: whether it was none, but some jobs were decided for before their turn.
        """
        try:
            told = self._all(seen, held, now, early=early)
            await asyncio.to_thread(lambda: self.sink.append_circumstances(tuple(told)))
        except Exception as error:  # noqa: BLE001 - what was decided is done, whether it can be replayed or not
            why = str(error) or type(error).__name__
            self.events.handle(reports.fleet_error("circumstances could not be kept", why, now))

    def _all(
        self, observations: Mapping[JobKey, Observation], held: Mapping[JobKey, Held], now: datetime, *, early: bool
    ) -> Iterator[Circumstances]:
        mode, interval = in_force(self.mode), in_force(self.collect_interval)
        for job, seen in observations.items():
            opened, sample = held[job], seen.sample
            if isinstance(opened, VersionedState):
                yield Circumstances(
                    at=now,
                    ctx=seen.ctx,
                    mode=mode,
                    collect_interval=interval,
                    sampled_at=sample.at if sample else None,
                    settings=sample.settings if sample else None,
                    since=seen.since,
                    problem=seen.problem,
                    state=opened.state,
                    downtime=self._downtime(seen),
                    early=early,
                )

    def _downtime(self, seen: Observation) -> Downtime | None:
        return None if seen.sample is None else self.restarts.downtime(seen.ctx, seen.sample)
