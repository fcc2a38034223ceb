"""A state store for one process and no longer: tests, `headgate advise`, the simulator."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from threading import Lock

from headgate.errors import ConflictError
from headgate.model.identity import JobKey
from headgate.model.orders import NO_ORDERS, Orders, StandingOrders
from headgate.model.state import JobState, ScalingRecord, VersionedState
from headgate.ports import Lease


@dataclass(slots=True)
class _Kept:
    """What is held of one job: its state, and every rescale its states ever told of, by decision id."""

    current: VersionedState = field(default_factory=VersionedState)
    records: dict[str, ScalingRecord] = field(default_factory=dict)
    gone_since: datetime | None = None

    @property
    def in_flight(self) -> bool:
        return self.current.state.intent is not None or bool(self.current.state.outbox)


class MemoryStateStore:
    """
    Keeps states in a dictionary; they end with the process.

    Safe to call from several threads.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._lock = Lock()
        self._jobs: dict[JobKey, _Kept] = {}
        self._leases: dict[int, Lease] = {}
        self._orders: dict[JobKey | None, Orders] = {}

    def load(self, job: JobKey, /) -> VersionedState:
        """Give the job's state; an unknown job has the default state with version 0."""
        with self._lock:
            return self._kept(job).current

    def save(self, job: JobKey, state: JobState, expected_version: int, /, *, lease: Lease | None = None) -> int:
        """
        Replace the job's state if it still has the expected version, and remember the rescales in its history.

        Raises:
            ConflictError: the version is another one, or somebody else has taken the lease; nothing was saved.
        """
        with self._lock:
            kept = self._kept(job)
            if lease is not None and not self._is_of(lease):
                message = f"the lease of shard {lease.shard} is no longer {lease.holder}'s: job {job} was not saved"
                raise ConflictError(message)
            if kept.current.version != expected_version:
                message = f"the state of job {job} in memory is no longer at version {expected_version}"
                raise ConflictError(message)
            kept.current = VersionedState(state=state, version=expected_version + 1)
            kept.records.update({record.decision_id: record for record in state.history})
            kept.gone_since = None
            self._jobs[job] = kept
            return kept.current.version

    def forget(self, job: JobKey, /, *, gone_before: datetime | None = None, unused: bool = False) -> bool:
        """Remove all that is kept of the job, if it is gone for so long and not in use; whether it was removed."""
        with self._lock:
            kept = self._kept(job)
            if gone_before is not None and (kept.gone_since is None or kept.gone_since >= gone_before):
                return False
            if unused and (kept.in_flight or self._orders.get(job, NO_ORDERS) != NO_ORDERS):
                return False
            return self._jobs.pop(job, None) is not None

    def kept(self) -> Mapping[JobKey, datetime | None]:
        """Give every job of which a state is kept, and since when it is noted as gone."""
        with self._lock:
            return {job: kept.gone_since for job, kept in sorted(self._jobs.items())}

    def note_gone(self, jobs: Collection[JobKey], at: datetime | None, /) -> None:
        """Note since when jobs are gone, or with None that they are back."""
        with self._lock:
            for job in self._jobs.keys() & set(jobs):
                self._jobs[job].gone_since = at

    def forget_history(self, before: datetime, /) -> None:
        """Remove the rescales that were made before an instant."""
        with self._lock:
            for kept in self._jobs.values():
                kept.records = {key: record for key, record in kept.records.items() if record.at >= before}

    def history(self, job: JobKey, since: datetime, /) -> tuple[ScalingRecord, ...]:
        """Give the rescales made since then, oldest first, also those the state has dropped meanwhile."""
        with self._lock:
            records = [record for record in self._kept(job).records.values() if record.at >= since]
        return tuple(sorted(records, key=lambda record: (record.at, record.decision_id)))

    def in_flight(self) -> tuple[JobKey, ...]:
        """Give the jobs that have an open intent or events that wait, sorted."""
        with self._lock:
            return tuple(sorted(job for job, kept in self._jobs.items() if kept.in_flight))

    def states(self) -> Mapping[JobKey, VersionedState]:
        """Give the state of every job."""
        with self._lock:
            return {job: kept.current for job, kept in sorted(self._jobs.items()) if kept.current.version}

    def orders(self) -> StandingOrders:
        """Give what people have ordered."""
        with self._lock:
            jobs = {job: orders for job, orders in self._orders.items() if job is not None and orders != NO_ORDERS}
            return StandingOrders(fleet=self._orders.get(None, NO_ORDERS), jobs=jobs)

    def change_orders(self, job: JobKey | None, change: Callable[[Orders], Orders], /) -> Orders:
        """Replace the orders for a job, or with None those for all."""
        with self._lock:
            orders = self._orders[job] = change(self._orders.get(job, NO_ORDERS))
            return orders

    def acquire(self, shard: int, holder: str, duration: timedelta, /, *, now: datetime | None = None) -> Lease | None:
        """Take or renew the lease of a shard; None while somebody else holds it."""
        now = now or datetime.now(UTC)
        with self._lock:
            last = self._leases.get(shard)
            good = last is not None and last.expires_at > now
            if last and good and last.holder != holder:
                return None
            token = last.token + (not good) if last else 1
            lease = Lease(shard=shard, holder=holder, token=token, expires_at=now + duration)
            self._leases[shard] = lease
            return lease

    def renew(self, holder: str, duration: timedelta, /, *, now: datetime | None = None) -> tuple[Lease, ...]:
        """Renew all that a holder has, and give them by shard; expired leases stay so."""
        now = now or datetime.now(UTC)
        with self._lock:
            mine = [lease for lease in self._leases.values() if lease.holder == holder and lease.expires_at > now]
            self._leases.update({lease.shard: replace(lease, expires_at=now + duration) for lease in mine})
            return tuple(self._leases[lease.shard] for lease in sorted(mine, key=lambda lease: lease.shard))

    def release(self, lease: Lease, /) -> None:
        """Give a lease back; one that somebody else has taken since is left alone."""
        with self._lock:
            if self._is_of(lease):
                # Not removed: the next one's token must be larger.
                self._leases[lease.shard] = replace(self._leases[lease.shard], expires_at=_EXPIRED)

    def holds(self, lease: Lease, /, *, now: datetime | None = None) -> bool:
        """Tell whether a lease is still good: not expired, not taken over."""
        with self._lock:
            return self._is_of(lease) and self._leases[lease.shard].expires_at > (now or datetime.now(UTC))

    def leases(self, *, now: datetime | None = None) -> tuple[Lease, ...]:
        """Give every lease that is good, by shard."""
        now = now or datetime.now(UTC)
        with self._lock:
            return tuple(lease for _, lease in sorted(self._leases.items()) if lease.expires_at > now)

    def close(self) -> None:
        """Do nothing: there is nothing to give back."""

    def _kept(self, job: JobKey) -> _Kept:
        return self._jobs.get(job) or _Kept()

    def _is_of(self, lease: Lease) -> bool:
        current = self._leases.get(lease.shard)
        return current is not None and (current.holder, current.token) == (lease.holder, lease.token)


_EXPIRED = datetime.min.replace(tzinfo=UTC)
