"""What people order through the state store: to keep off a job, to use other options, to take a change back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from headgate.model.identity import JobKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Who gave an order, when and why."""

    at: datetime
    by: str
    """As in `alice@laptop`."""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """What holds for one job, or for all, until it is taken back."""

    pause: Given | None = None
    """While it is set, nothing is changed: no rescale, no rollback, no worker. What is half done is finished."""
    options: Mapping[str, str] = field(default_factory=dict)
    """By their full keys, over those of the service's file."""
    rollback: Given | None = None
    """Take the last rescale back; gone as soon as that is under way, or turns out to be impossible."""


NO_ORDERS = Orders()


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingOrders:
    """All orders of a store at one instant."""

    fleet: Orders = NO_ORDERS
    """For every job; it has no rollback."""
    jobs: Mapping[JobKey, Orders] = field(default_factory=dict)

    def pause_of(self, job: JobKey) -> Given | None:
        """Give the pause that holds for a job, its own before everybody's."""
        return self.jobs.get(job, NO_ORDERS).pause or self.fleet.pause

    def options_of(self, job: JobKey) -> Mapping[str, str]:
        """Give the options that are set for a job, its own over everybody's."""
        return {**self.fleet.options, **self.jobs.get(job, NO_ORDERS).options}
