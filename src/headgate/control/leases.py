"""
Which jobs are this process's to act for, when several share one store.

Jobs fall into shards by their key. A process holds leases of some shards, as many as there are for each process that
is alive; a further lease, its seat, tells the others that it is, also before it has a shard. A process that does not
renew its leases loses them all, and whatever it still tries to save under them is refused by the store.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import secrets
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import count
from threading import Lock

from headgate.errors import ConfigError, HeadgateError
from headgate.model.identity import JobKey
from headgate.ports import Lease, StateStore


def shard_of(job: JobKey, shards: int) -> int:
    """Give the shard of a job, 0 to `shards` - 1: the same in every process and every version of Python."""
    digest = hashlib.sha256(str(job).encode()).digest()
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
        holder: str | None = None,
    ) -> None:
        """
        Hold nothing yet.

        Args:
            store: shared by all processes.
            shards: how many there are; the same number in every process.
            duration: how long the jobs of a process that has died wait for another one.
            holder: this process's name; a new one unless given.
        """
        self.duration = duration
        self._store = store
        self._shards = shards
        self._holder = holder or holder_of_this_process(shards)
        self._held: dict[int, Lease] = {}
        self._seen: Sequence[Lease] = ()
        self._one_at_a_time = Lock()
        self._thread = ThreadPoolExecutor(1, "leases")

    @property
    def interval(self) -> timedelta:
        """How often to renew: two renewals may fail before a lease is lost."""
        return self.duration / 3

    def lease_of(self, job: JobKey) -> Lease | None:
        """Give the lease under which to act for a job; None while it is another process's, or nobody's."""
        return self._held.get(shard_of(job, self._shards))

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
            ConfigError: another process counts another number of shards; nothing is held then.
            HeadgateError: the store did not answer, or refuses; what is held stays until it expires there.
        """
        with self._one_at_a_time:
            self._keep(self._store.renew(self._holder, self.duration, now=now))
            self._look_around(now)
            self._sit_down(now)
            taken = {lease.shard for lease in self._seen}
            free = (shard for shard in range(self._shards) if shard not in taken)
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
            for shard in tuple(self._held):
                self._give_back(shard)

    def _keep(self, renewed: Sequence[Lease]) -> None:
        self._held = {lease.shard: lease for lease in renewed}

    def _look_around(self, now: datetime | None) -> None:
        """See who is alive, and refuse to work beside a process that puts jobs into other shards."""
        self._seen = self._store.leases(now=now)
        for lease in self._seen:
            if _shards_of(lease) != self._shards:
                held, self._held = self._held, {}
                for mine in held.values():
                    self._store.release(mine)
                raise ConfigError([_other_shards(lease, self._shards)])

    def _sit_down(self, now: datetime | None) -> None:
        """Be seen before anything is taken; seats are shards below zero, which no job has."""
        if any(shard < 0 for shard in self._held):
            return
        taken = {lease.shard for lease in self._seen}
        next(seat for seat in count(-1, -1) if seat not in taken and self._take(seat, now))
        self._look_around(now)

    def _wanting(self) -> int:
        """Give how many shards are missing to this process's share; below zero, how many are too many."""
        alive = len({lease.holder for lease in self._seen} | {self._holder})
        return -(-self._shards // alive) - len(self._shards_held())

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
