"""
Events that belong to a change of state leave from the saved state: at least once, under a stable key.

They are saved in the same write as the state they tell of, handed out after it, and struck off with the next save.
Where several processes share the store, all of it is done under the lease that the job was opened with.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace

from headgate.control.leases import Leases
from headgate.control.orders import OrderBook
from headgate.control.threads import in_threads
from headgate.errors import ConflictError, HeadgateError
from headgate.model.events import Event
from headgate.model.identity import JobKey
from headgate.model.state import JobState, VersionedState
from headgate.ports import EventHandler, Lease, StateStore

Held = VersionedState | BaseException
"""A job's state, or why it could not be had."""

_MANY = 10
"""From so many states on one query for all that there are is cheaper than one for each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outbox:
    """A state store whose states' events are delivered."""

    store: StateStore
    events: EventHandler
    leases: Leases | None = None
    """None: no other process uses the store."""
    threads: Executor | None = None
    """Where the store is asked, a few calls at once, so that none waits for anything else; None: the loop's."""
    book: OrderBook = field(init=False)
    """What people have ordered through the store."""
    _known: dict[JobKey, VersionedState] = field(default_factory=dict, init=False)
    """As last read or written: a save that finds another version tells that somebody else has written since."""
    _under: dict[JobKey, Lease] = field(default_factory=dict, init=False)
    """
    The lease with which each job was opened. A save or an effect that was decided on under it needs this one: under a
    later one somebody else may have been there in between.
    """

    def __post_init__(self) -> None:
        """Open the book."""
        object.__setattr__(self, "book", OrderBook(store=self.store, threads=self.threads))

    def is_changing(self, job: JobKey) -> bool:
        """Tell whether a change of the job is under way, as far as is known: it may not answer for that."""
        known = self._known.get(job)
        return known is not None and known.state.intent is not None

    def looks_after(self, job: JobKey) -> bool:
        """Tell whether the job is this process's now; of others' jobs nothing need be asked."""
        return self.leases is None or self.leases.lease_of(job) is not None

    async def open(self, job: JobKey) -> VersionedState:
        """Give the job's state, loaded when it is not known, and hand out what was left undelivered."""
        self._begin(job)
        held = self._known.get(job)
        # Whatever is about to be asked of the engine may have been settled by another process.
        if held is None or held.state.intent is not None:
            held = self._known[job] = await in_threads(self.threads, self.store.load, job)
        return await self._deliver(job, held) if held.state.outbox and self._is_ours(job) else held

    async def open_all(self, jobs: Collection[JobKey]) -> dict[JobKey, Held]:
        """Open jobs; one whose state cannot be had has the error in its place."""
        await self._load_together(jobs)
        opened = await asyncio.gather(*(self.open(job) for job in jobs), return_exceptions=True)
        return dict(zip(jobs, opened, strict=True))

    def keep_only(self, jobs: Collection[JobKey]) -> None:
        """Let go of what is known of other jobs; the store keeps it."""
        for job in self._known.keys() - jobs:
            del self._known[job]
        for job in self._under.keys() - jobs:
            del self._under[job]
        self.book.keep_only(jobs)

    async def save(self, job: JobKey, held: VersionedState, state: JobState) -> VersionedState:
        """
        Save the state if it differs from the held one, then hand out its events.

        Raises:
            ConflictError: somebody else saved the job meanwhile, or looks after it now.
            UnreachableError: the store did not answer.
        """
        if state == held.state:
            return held
        return await self._deliver(job, await self._write(job, held, state))

    async def may_act(self, job: JobKey) -> bool:
        """
        Tell whether the job is still this process's: to be asked right before each effect on it.

        Raises:
            UnreachableError: the store did not answer, so nobody knows, and nothing may be done.
        """
        if self.leases is None:
            return True
        lease = self._under.get(job)
        return lease is not None and await in_threads(self.threads, self.store.holds, lease)

    async def _load_together(self, jobs: Collection[JobKey]) -> None:
        """Load what is not known by one query where it is much, as in a first cycle."""
        for job in jobs:
            self._begin(job)
        unknown = [job for job in jobs if job not in self._known]
        if len(unknown) < _MANY:
            return
        try:
            states = await in_threads(self.threads, self.store.states)
        except Exception:  # noqa: BLE001 - each is loaded by itself then, and tells what is wrong with it
            return
        self._known.update({job: states.get(job, VersionedState()) for job in unknown})

    def _begin(self, job: JobKey) -> None:
        """Take the job's present lease for all that follows; under another one than before nothing is known of it."""
        if self.leases is None:
            return
        before, lease = self._under.pop(job, None), self.leases.lease_of(job)
        if lease:
            self._under[job] = lease
        if lease is None or before is None or before.token != lease.token:
            self._known.pop(job, None)

    def _is_ours(self, job: JobKey) -> bool:
        return self.leases is None or job in self._under

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
        if not self._is_ours(job):
            message = f"the state of job {job} was not saved: another process looks after the job"
            raise ConflictError(message)
        lease = self._under.get(job)
        version = await in_threads(self.threads, self.store.save, job, state, held.version, lease=lease)
        saved = self._known[job] = VersionedState(state=state, version=version)
        return saved
