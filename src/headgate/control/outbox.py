"""
Events that belong to a change of state leave from the saved state: at least once, under a stable key.

They are saved in the same write as the state they tell of, handed out after it, and struck off with the next save.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from headgate.errors import HeadgateError
from headgate.model.events import Event
from headgate.model.identity import JobKey
from headgate.model.state import JobState, VersionedState
from headgate.ports import EventHandler, StateStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Outbox:
    """A state store whose states' events are delivered."""

    store: StateStore
    events: EventHandler
    _known: dict[JobKey, VersionedState] = field(default_factory=dict, init=False)
    """As last read or written: a save that finds another version tells that somebody else has written since."""

    async def open(self, job: JobKey) -> VersionedState:
        """Give the job's state, loaded when it is not known, and hand out what was left undelivered."""
        held = self._known.get(job)
        # Whatever is about to be asked of the engine may have been settled by another process.
        if held is None or held.state.intent is not None:
            held = self._known[job] = await asyncio.to_thread(self.store.load, job)
        return await self._deliver(job, held) if held.state.outbox else held

    def keep_only(self, jobs: Collection[JobKey]) -> None:
        """Let go of what is known of other jobs; the store keeps it."""
        for job in self._known.keys() - jobs:
            del self._known[job]

    async def save(self, job: JobKey, held: VersionedState, state: JobState) -> VersionedState:
        """
        Save the state if it differs from the held one, then hand out its events.

        Raises:
            ConflictError: somebody else saved the job meanwhile.
            UnreachableError: the store did not answer.
        """
        if state == held.state:
            return held
        return await self._deliver(job, await self._write(job, held, state))

    async def _deliver(self, job: JobKey, held: VersionedState) -> VersionedState:
        left = tuple(event for event in held.state.outbox if not self._delivered(event))
        if left == held.state.outbox:
            return held
        return await self._write(job, held, replace(held.state, outbox=left))

    def _delivered(self, event: Event) -> bool:
        try:
            self.events.handle(event)
        except HeadgateError:
            return False
        return True

    async def _write(self, job: JobKey, held: VersionedState, state: JobState) -> VersionedState:
        self._known.pop(job, None)
        version = await asyncio.to_thread(self.store.save, job, state, held.version)
        saved = self._known[job] = VersionedState(state=state, version=version)
        return saved
