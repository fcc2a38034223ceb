"""A state store in two places: states in one, leases in another, with the fence of the first between them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta

from headgate.model.identity import JobKey
from headgate.model.orders import Orders, StandingOrders
from headgate.model.state import JobState, ScalingRecord, VersionedState
from headgate.ports import Lease, StateStore
from headgate.stores.kubernetes_leases import KubernetesLeases


class SplitStateStore:
    """Hands each call on to where it belongs. A save is fenced where the states are."""

    def __init__(self, states: StateStore, leases: KubernetesLeases) -> None:
        """Put the two together; the leases have the states' fence already."""
        self._states = states
        self._leases = leases

    def load(self, job: JobKey, /) -> VersionedState:
        """Give the job's state."""
        return self._states.load(job)

    def save(self, job: JobKey, state: JobState, expected_version: int, /, *, lease: Lease | None = None) -> int:
        """Replace the job's state, unless the lease has been followed by another one."""
        return self._states.save(job, state, expected_version, lease=lease)

    def forget(self, job: JobKey, /, *, gone_before: datetime | None = None, unused: bool = False) -> bool:
        """Remove all that is kept of the job, if it may be."""
        return self._states.forget(job, gone_before=gone_before, unused=unused)

    def kept(self) -> Mapping[JobKey, datetime | None]:
        """Give every job of which a state is kept, and since when it is noted as gone."""
        return self._states.kept()

    def note_gone(self, jobs: Collection[JobKey], at: datetime | None, /) -> None:
        """Note since when jobs are gone, or that they are back."""
        self._states.note_gone(jobs, at)

    def forget_history(self, before: datetime, /) -> None:
        """Remove the rescales that were made before an instant."""
        self._states.forget_history(before)

    def history(self, job: JobKey, since: datetime, /) -> tuple[ScalingRecord, ...]:
        """Give the rescales made since then."""
        return self._states.history(job, since)

    def in_flight(self) -> tuple[JobKey, ...]:
        """Give the jobs that have an open intent or events that wait."""
        return self._states.in_flight()

    def states(self) -> Mapping[JobKey, VersionedState]:
        """Give the state of every job."""
        return self._states.states()

    def orders(self) -> StandingOrders:
        """Give what people have ordered."""
        return self._states.orders()

    def change_orders(self, job: JobKey | None, change: Callable[[Orders], Orders], /) -> Orders:
        """Replace the orders for a job, or for all."""
        return self._states.change_orders(job, change)

    def acquire(self, shard: int, holder: str, duration: timedelta, /, *, now: datetime | None = None) -> Lease | None:
        """Take or renew the lease of a shard."""
        return self._leases.acquire(shard, holder, duration, now=now)

    def renew(self, holder: str, duration: timedelta, /, *, now: datetime | None = None) -> tuple[Lease, ...]:
        """Renew all that a holder has."""
        return self._leases.renew(holder, duration, now=now)

    def release(self, lease: Lease, /) -> None:
        """Give a lease back."""
        self._leases.release(lease)

    def holds(self, lease: Lease, /, *, now: datetime | None = None) -> bool:
        """Tell whether a lease is still good."""
        return self._leases.holds(lease, now=now)

    def leases(self, *, now: datetime | None = None) -> tuple[Lease, ...]:
        """Give every lease that is good."""
        return self._leases.leases(now=now)
