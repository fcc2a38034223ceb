"""What people order through the state store: to keep off a job, to use other options, to take a change back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from headgate.model.identity import JobKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Who gave an order, when and why."""

    at: datetime
    by: str
    """As in `alice@laptop`."""
    why: str = ""

    def __str__(self) -> str:
        """Give it in words: `alice@laptop at 2026-01-31 12:00:00 UTC: latency is up`."""
        text = f"{self.by} at {self.at:%Y-%m-%d %H:%M:%S} UTC"
        return f"{text}: {self.why}" if self.why else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """What holds for one job, or for all, until it is taken back."""

    pause: Given | None = None
    """While it is set, nothing is changed: no rescale, no rollback, no worker. What is half done is finished."""
    options: Mapping[str, str] = field(default_factory=dict)
    """By their full keys, over those of the service's file."""
    given: Mapping[str, Given] = field(default_factory=dict)
    """Who has set each of the options."""
    rollback: Given | None = None
    """Take the last rescale back; gone as soon as that is under way, or turns out to be impossible."""


NO_ORDERS = Orders()


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingOrders:
    """All orders of a store at one instant."""

    fleet: Orders = NO_ORDERS
    """For every job; it has no rollback."""
    jobs: Mapping[JobKey, Orders] = field(default_factory=dict)

    def orders_of(self, job: JobKey) -> Orders:
        """Give all that holds for a job, what is ordered for all included."""
        own = self.jobs.get(job, NO_ORDERS)
        if self.fleet == NO_ORDERS:
            return own
        given = {**self.fleet.given, **own.given}
        return replace(own, pause=self.pause_of(job), options=self.options_of(job), given=given)

    def pause_of(self, job: JobKey) -> Given | None:
        """Give the pause that holds for a job, its own before everybody's."""
        return self.jobs.get(job, NO_ORDERS).pause or self.fleet.pause

    def options_of(self, job: JobKey) -> Mapping[str, str]:
        """Give the options that are set for a job, its own over everybody's."""
        return {**self.fleet.options, **self.jobs.get(job, NO_ORDERS).options}
