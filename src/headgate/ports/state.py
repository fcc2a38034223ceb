"""Remembering, and whose turn it is to act."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from headgate.model.identity import JobKey
from headgate.model.orders import Orders, StandingOrders
from headgate.model.state import JobState, ScalingRecord, VersionedState


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to act for the jobs of one shard, until it expires."""

    shard: int
    holder: str
    """Who has it: one process of one host, the host's name first, then a slash."""
    token: int
    """Grows with every change of hands: what is saved under an older one is refused."""
    expires_at: datetime
    """By the store's clock, not this machine's."""

    @property
    def host(self) -> str:
        """The name of the holder's host."""
        return self.holder.partition("/")[0]


class StateStore(Protocol):
    """
    Keeps what must be remembered of each job, and which process looks after which shard.

    Leases expire by the store's own clock, the only one that all processes share; a method that takes `now` goes by
    that instant instead, for tests.
    """

    def load(self, job: JobKey, /) -> VersionedState:
        """Give the job's state; an unknown job has the default state with version 0."""

    def save(self, job: JobKey, state: JobState, expected_version: int, /, *, lease: Lease | None = None) -> int:
        """
        Replace the job's state if it still has the expected version. Durable when it returns.

        With a lease, only if nobody has taken over its shard since: checked in the same transaction.

        Returns:
            The new version.

        Raises:
            ConflictError: the version is another one, or the lease is no longer good; nothing was saved.
            UnreachableError: the store did not answer; it is not known whether it was saved.
        """

    def forget(self, job: JobKey, /, *, gone_before: datetime | None = None, unused: bool = False) -> bool:
        """
        Remove all that is kept of the job, in one transaction with what it depends on; an unknown one is no error.

        Args:
            job: its orders stay, see `change_orders`.
            gone_before: only if it is noted as gone since an earlier instant.
            unused: only if it has neither an open intent nor events that wait nor orders.

        Returns:
            Whether there was something to remove, and it was removed.
        """

    def kept(self) -> Mapping[JobKey, datetime | None]:
        """Give every job of which a state is kept, and since when it is noted as gone; None while it is not."""

    def note_gone(self, jobs: Collection[JobKey], at: datetime | None, /) -> None:
        """
        Note since when jobs are gone, or with None that they are back; unknown ones are passed over.

        A save says that its job is there. Neither version nor state change by a note.
        """

    def forget_history(self, before: datetime, /) -> None:
        """Remove the rescales that were made before an instant from the history of all jobs; states keep their own."""

    def history(self, job: JobKey, since: datetime, /) -> tuple[ScalingRecord, ...]:
        """Give the rescales made since then, oldest first."""

    def in_flight(self) -> tuple[JobKey, ...]:
        """Give the jobs that have an open intent or events that wait to be delivered, sorted."""

    def states(self) -> Mapping[JobKey, VersionedState]:
        """
        Give the state of every job that was ever saved, by one query: of a fleet each by itself takes long.

        One that cannot be read makes all fail; `load` tells which one that is.
        """

    def orders(self) -> StandingOrders:
        """Give what people have ordered; asked once in each cycle."""

    def change_orders(self, job: JobKey | None, change: Callable[[Orders], Orders], /) -> Orders:
        """
        Replace the orders for a job, or with None those for all, by what `change` makes of them; nobody gets between.

        `forget` leaves them: what somebody ordered holds until somebody takes it back.

        Returns:
            The new orders, durable.

        Raises:
            UnreachableError: the store did not answer; it is not known whether they were changed.
        """

    def acquire(self, shard: int, holder: str, duration: timedelta, /, *, now: datetime | None = None) -> Lease | None:
        """
        Take or renew the lease of a shard; None while somebody else holds it.

        A renewal keeps its token; whoever takes an expired or released lease gets a larger one than any before, also
        the one who held it last.
        """

    def renew(self, holder: str, duration: timedelta, /, *, now: datetime | None = None) -> tuple[Lease, ...]:
        """Renew all that a holder has, at once, and give them by shard; expired leases stay so."""

    def release(self, lease: Lease, /) -> None:
        """Give a lease back; one that somebody else has taken since is left alone."""

    def holds(self, lease: Lease, /, *, now: datetime | None = None) -> bool:
        """Tell whether a lease is still good: not expired, not taken over. Asked right before an effect."""

    def leases(self, *, now: datetime | None = None) -> tuple[Lease, ...]:
        """Give every lease that is good, by shard."""
