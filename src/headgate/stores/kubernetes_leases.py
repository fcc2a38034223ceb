"""
Leases of shards in Kubernetes, whose API server knows no expiry: each process judges by its own clock.

A holder counts from before it asks for a renewal; the others from when they first see the object as it is, and each of
its changes starts their count anew. So nobody takes a lease while its holder still thinks that it has it, however far
apart their clocks are set. What a frozen holder does after that, the fence of the state store refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Lock
from typing import Protocol

from headgate.errors import ConflictError, HeadgateError
from headgate.ports import Lease
from headgate.stores.fence import Fence
from headgate.stores.lease_objects import LeaseObject
from headgate.stores.steady import SteadyClock

Written = Mapping[int, LeaseObject | HeadgateError]


class Registry(Protocol):
    """Where the objects are: `LeaseObjects`, or what stands for it in tests."""

    def read_all(self) -> Collection[LeaseObject]:
        """Give all there are."""

    def write_all(self, wanted: Collection[LeaseObject], /) -> Written:
        """Write those that are still at their version; each as it is now, or why it was not written."""

    def close(self) -> None:
        """Let go of the connection."""


@dataclass(frozen=True, slots=True)
class _Sighting:
    """An object, and when it was first seen at its version."""

    found: LeaseObject
    since: datetime

    @property
    def lease(self) -> Lease:
        found = self.found
        return Lease(shard=found.shard, holder=found.holder, token=found.token, expires_at=self.since + found.duration)


class KubernetesLeases:
    """The leases of a `ports.StateStore`; safe to call from several threads."""

    def __init__(self, objects: Registry, fence: Fence, *, clock: Callable[[], datetime] | None = None) -> None:
        """Hold nothing, and have seen nothing: what others hold is free once it has not changed for its duration."""
        self._objects = objects
        self._fence = fence
        self._clock = clock or SteadyClock()
        self._one_at_a_time = Lock()
        self._seen: dict[int, _Sighting] = {}
        self._granted: dict[int, Lease] = {}
        """What this process holds, until the instant it counts itself."""
        self._has_just_looked = False

    def acquire(self, shard: int, holder: str, duration: timedelta, /, *, now: datetime | None = None) -> Lease | None:
        """
        Take or renew the lease of a shard; None while somebody else holds it, or was quicker.

        Raises:
            HeadgateError: Kubernetes or the fence does not answer, or refuses.
        """
        with self._one_at_a_time:
            at = now or self._clock()
            last = self._current(shard)
            if last and last.holder and last.expires_at > at:
                if last.holder != holder:
                    return None
                if last is self._granted.get(shard):
                    return self._prolong([last], duration, at)[shard]
            token = max(self._fence.token_of(shard), last.token if last else 0) + 1
            wanted = Lease(shard=shard, holder=holder, token=token, expires_at=at + duration)
            return self._take(wanted, duration, now)

    def renew(self, holder: str, duration: timedelta, /, *, now: datetime | None = None) -> tuple[Lease, ...]:
        """
        Renew all that a holder has: one call that lists, and one a lease.

        Raises:
            HeadgateError: Kubernetes or the fence does not answer, or refuses; some may have been renewed.
        """
        with self._one_at_a_time:
            at = now or self._clock()
            self._look(now)
            mine = [one for one in self._granted.values() if one.holder == holder and one.expires_at > at]
            renewed = self._prolong(self._kept(mine), duration, at)
            self._has_just_looked = True
            return tuple(lease for _, lease in sorted(renewed.items()))

    def release(self, lease: Lease, /) -> None:
        """
        Give a lease back; one that somebody else has taken since is left alone.

        Raises:
            HeadgateError: Kubernetes does not answer, or refuses; this process does not hold it any more all the same.
        """
        with self._one_at_a_time:
            granted = self._granted.get(lease.shard)
            if granted is not None and _is_same(granted, lease):
                self._give_back(lease)

    def holds(self, lease: Lease, /, *, now: datetime | None = None) -> bool:
        """
        Tell whether a lease is still good: neither expired here nor followed by another one.

        Raises:
            HeadgateError: the fence does not answer.
        """
        granted = self._granted.get(lease.shard)
        if granted is None or not _is_same(granted, lease) or not self._fence.let_through([lease]):
            return False
        return granted.expires_at > (now or self._clock())

    def leases(self, *, now: datetime | None = None) -> tuple[Lease, ...]:
        """
        Give every lease that is good, by shard, as far as this process can tell.

        Raises:
            HeadgateError: Kubernetes does not answer, or refuses.
        """
        with self._one_at_a_time:
            if not self._has_just_looked:
                self._look(now)
            self._has_just_looked = False
            at = now or self._clock()
            known = (self._current(shard) for shard in sorted(self._seen))
            return tuple(lease for lease in known if lease and lease.holder and lease.expires_at > at)

    def close(self) -> None:
        """Let go of the connection."""
        self._objects.close()

    def _current(self, shard: int) -> Lease | None:
        """Give the lease as it was seen last; where it is this process's own, as long as that counts itself."""
        seen, granted = self._seen.get(shard), self._granted.get(shard)
        if seen is None:
            return None
        return granted if granted and _is_same(granted, seen.lease) else seen.lease

    def _look(self, now: datetime | None) -> None:
        found = self._objects.read_all()
        at = now or self._clock()
        self._seen = {one.shard: self._sighted(one, at) for one in found}
        # A deleted one is free for everybody at once.
        self._granted = {shard: lease for shard, lease in self._granted.items() if self._current(shard) is lease}

    def _sighted(self, found: LeaseObject, at: datetime) -> _Sighting:
        known = self._seen.get(found.shard)
        return known if known and known.found.version == found.version else _Sighting(found, at)

    def _kept(self, leases: Collection[Lease]) -> Collection[Lease]:
        """Give those that are still ours in the state store, too; the others are nothing to act under."""
        through = self._fence.let_through(leases)
        for lease in leases:
            if lease.shard not in through:
                self._give_back(lease)
        return [lease for lease in leases if lease.shard in through]

    def _prolong(self, leases: Collection[Lease], duration: timedelta, at: datetime) -> Mapping[int, Lease]:
        """Renew leases; one that changed in between stays as it is for now."""
        written = self._write([replace(self._seen[lease.shard].found, duration=duration) for lease in leases], at)
        longer = {
            lease.shard: replace(lease, expires_at=at + duration)
            for lease in leases
            if isinstance(written[lease.shard], LeaseObject)
        }
        self._granted = {**self._granted, **longer}
        _complain(written)
        return {lease.shard: self._granted[lease.shard] for lease in leases}

    def _take(self, wanted: Lease, duration: timedelta, now: datetime | None) -> Lease | None:
        last = self._seen.get(wanted.shard)
        asked = LeaseObject(
            shard=wanted.shard,
            holder=wanted.holder,
            token=wanted.token,
            duration=duration,
            version=last.found.version if last else "",
        )
        written = self._write([asked], wanted.expires_at - duration)
        _complain(written)
        if not isinstance(written[wanted.shard], LeaseObject):
            self._look(now)
            return None
        if not self._fence.raise_fence(wanted):
            self._give_back(wanted)
            return None
        self._granted = {**self._granted, wanted.shard: wanted}
        return wanted

    def _give_back(self, lease: Lease) -> None:
        # A new dictionary: `holds` reads the old one in other threads.
        self._granted = {shard: kept for shard, kept in self._granted.items() if shard != lease.shard}
        _complain(self._write([replace(self._seen[lease.shard].found, holder="")], lease.expires_at))

    def _write(self, wanted: Collection[LeaseObject], at: datetime) -> Written:
        """Write objects of our own; what is written counts from before it was sent."""
        written = self._objects.write_all(wanted)
        self._seen |= {shard: _Sighting(one, at) for shard, one in written.items() if isinstance(one, LeaseObject)}
        return written


def _complain(written: Written) -> None:
    """Raise what kept an object from being written, unless somebody else was first."""
    for one in written.values():
        if isinstance(one, HeadgateError) and not isinstance(one, ConflictError):
            raise one


def _is_same(one: Lease, other: Lease) -> bool:
    return (one.shard, one.holder, one.token) == (other.shard, other.holder, other.token)
