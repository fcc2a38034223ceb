"""
Which jobs are this process's to act for, when several share one store.

Jobs fall into shards by their key. A process holds leases of some shards, as many as there are for each process that
is alive and looks after the same clusters; further leases, its seats, tell the others that it is, also before it has a
shard. A process that does not renew its leases loses them all, and whatever it still tries to save under them is
refused by the store.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import secrets
import socket
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock

from headgate.control.territory import Territory
from headgate.errors import ConfigError, HeadgateError
from headgate.model.identity import JobKey
from headgate.ports import Lease, StateStore


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseStanding:
    """How the jobs are divided, as a process saw it last."""

    shards: int
    """How many there are."""
    held: int
    """How many of them this process holds."""
    others: int
    """How many others hold."""
    expires_at: datetime | None
    """When the first of its leases expires unless it is renewed, by the store's clock; None when there is none."""


def shard_of(job: JobKey, shards: int, *, whole: Collection[str] = ()) -> int:
    """
    Give the shard of a job, 0 to `shards` - 1: the same in every process and every version of Python.

    All jobs of a cluster that is one `whole` have the same one.
    """
    key = JobKey(job.cluster, "") if job.cluster in whole else job
    digest = hashlib.sha256(str(key).encode()).digest()
    return int.from_bytes(digest[:8], "big") % shards


def holder_of_this_process(shards: int) -> str:
    """Name this process, unlike any before: host, process id and chance, and how many shards it counts."""
    return f"{socket.gethostname()}/{os.getpid()}-{secrets.token_hex(4)}/{shards}"


class Leases:
    """
    This process's leases.

    `renew` may run at any time, also while a cycle does; `share_out` gives shards away, so it belongs between cycles.
    Both block; the control loop has them as `on_tick` and `before_cycle`. All instants are the store's, unless a test
    gives its own.
    """

    def __init__(
        self,
        store: StateStore,
        *,
        shards: int = 64,
        duration: timedelta = timedelta(seconds=30),
        clusters: Collection[str] = (),
        whole: Collection[str] = (),
        holder: str | None = None,
    ) -> None:
        """
        Hold nothing yet.

        Args:
            store: shared by all processes.
            shards: how many there are; the same number in every process that looks after the same clusters.
            duration: how long the jobs of a process that has died wait for another one.
            clusters: whose jobs are divided, with the processes that have exactly the same ones; none: whatever there
                are, with everybody.
            whole: those whose jobs are not divided, as whoever changes their workers decides for all of them.
            holder: this process's name; a new one unless given.
        """
        self.duration = duration
        self._store = store
        self._shards = shards
        self._whole = frozenset(whole)
        self._territory = Territory(clusters, whole)
        self._numbers = self._territory.shards[:shards]
        self._holder = holder or holder_of_this_process(shards)
        self._held: dict[int, Lease] = {}
        self._seen: Sequence[Lease] = ()
        self._in_company = False
        self._one_at_a_time = Lock()
        self._thread = ThreadPoolExecutor(1, "leases")

    @property
    def interval(self) -> timedelta:
        """How often to renew: one renewal may fail, the second after it would come as the lease expires."""
        return self.duration / 3

    @property
    def standing(self) -> LeaseStanding:
        """How the jobs are divided; asks nobody, and may be read from any thread."""
        held, seen = self._held, self._seen
        mine = [lease for number, lease in held.items() if number >= 0]
        return LeaseStanding(
            shards=self._shards,
            held=len(mine),
            others=sum(lease.shard in self._numbers and lease.shard not in held for lease in seen),
            expires_at=min((lease.expires_at for lease in mine), default=None),
        )

    def lease_of(self, job: JobKey) -> Lease | None:
        """Give the lease under which to act for a job; None while it is another process's, or nobody's."""
        return self._held.get(self._numbers[shard_of(job, self._shards, whole=self._whole)])

    def company(self) -> tuple[str, ...]:
        """Give who else divides these jobs, by name: once, as soon as there is anybody."""
        others = () if self._in_company else tuple(sorted(self._alive() - {self._holder}))
        self._in_company |= bool(others)
        return others

    async def on_tick(self, _: datetime) -> None:
        """Do `renew`, every `interval`, in a thread of its own: in a busy pool it might have to wait for too long."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self.renew)

    async def before_cycle(self, _: datetime) -> None:
        """Do `share_out`; a process that holds nothing, as at its start, takes its share first."""
        step = self.share_out if self._held else self.renew
        await asyncio.get_running_loop().run_in_executor(self._thread, step)

    def renew(self, now: datetime | None = None) -> None:
        """
        Renew what is held, and take what is free up to this process's share.

        Raises:
            ConfigError: another process counts another number of shards, or looks after some of the same clusters and
                not all; nothing is held then.
            HeadgateError: the store did not answer, or refuses; what is held stays until it expires there.
        """
        with self._one_at_a_time:
            self._keep(self._store.renew(self._holder, self.duration, now=now))
            self._look_around(now)
            self._sit_down(now)
            taken = {lease.shard for lease in self._seen}
            free = (shard for shard in self._numbers if shard not in taken)
            while self._wanting() > 0 and (shard := next(free, None)) is not None:
                self._take(shard, now)

    def share_out(self, now: datetime | None = None) -> None:
        """
        Give back what is more than this process's share, for a process that came later.

        Raises:
            HeadgateError: the store did not answer.
        """
        with self._one_at_a_time:
            self._seen = self._store.leases(now=now)
            for shard in sorted(self._shards_held(), reverse=True)[: max(0, -self._wanting())]:
                self._give_back(shard)

    def give_up(self) -> None:
        """Give everything back, for the others to take at once; where the store does not answer, it expires."""
        with self._one_at_a_time, suppress(HeadgateError):
            self._leave()

    def _keep(self, renewed: Sequence[Lease]) -> None:
        self._held = {lease.shard: lease for lease in renewed}

    def _look_around(self, now: datetime | None) -> None:
        """See who is alive, and refuse to work beside a process that puts the same jobs into other shards."""
        self._seen = self._store.leases(now=now)
        fault = self._fault()
        if fault:
            self._leave()
            raise ConfigError([fault])

    def _fault(self) -> str | None:
        alive = self._alive()
        for lease in self._seen:
            if not self._territory.meets(lease.shard):
                continue
            if lease.holder not in alive:
                return _other_clusters(lease)
            if _shards_of(lease) != self._shards:
                return _other_shards(lease, self._shards)
        return None

    def _sit_down(self, now: datetime | None) -> None:
        """Be seen before anything is taken: at the table first, or those who sit there would take us for strangers."""
        seats = [seats for seats in (self._territory.table, *self._territory.claims) if not self._sits(seats)]
        taken = {lease.shard for lease in self._seen}
        for numbers in seats:
            next(seat for seat in numbers if seat not in taken and self._take(seat, now))
        if seats:
            self._look_around(now)

    def _sits(self, seats: range) -> bool:
        return any(number in seats for number in self._held)

    def _wanting(self) -> int:
        """Give how many shards are missing to this process's share; below zero, how many are too many."""
        alive = len(self._alive() | {self._holder})
        return -(-self._shards // alive) - len(self._shards_held())

    def _alive(self) -> set[str]:
        return {lease.holder for lease in self._seen if self._territory.has(lease.shard)}

    def _leave(self) -> None:
        """Give everything back: the seat at the table last, without which we would be a stranger at the others."""
        held, self._held = self._held, {}
        for shard in sorted(held, key=lambda shard: (self._territory.has(shard), -shard)):
            self._store.release(held[shard])

    def _shards_held(self) -> Sequence[int]:
        return [shard for shard in self._held if shard >= 0]

    def _take(self, shard: int, now: datetime | None) -> bool:
        lease = self._store.acquire(shard, self._holder, self.duration, now=now)
        if lease:
            # A new dictionary: other threads read the old one.
            self._held = {**self._held, shard: lease}
        return lease is not None

    def _give_back(self, shard: int) -> None:
        self._held, lease = {s: kept for s, kept in self._held.items() if s != shard}, self._held[shard]
        self._store.release(lease)


def _shards_of(lease: Lease) -> int | None:
    number = lease.holder.rpartition("/")[2]
    return int(number) if number.isdecimal() else None


def _other_shards(lease: Lease, shards: int) -> str:
    return (
        f"lease.shards: {shards} here, {_shards_of(lease)} in {lease.holder}, which shares the state store. "
        f"Hint: give all of them one number; to change it, stop them all first"
    )


def _other_clusters(lease: Lease) -> str:
    return (
        f"clusters: {lease.holder}, which shares the state store, looks after some of these clusters and not the same "
        f"ones. Hint: give all of them the same clusters, with workers.provider at the same ones, or none in common; "
        f"to change them, stop them all first"
    )
