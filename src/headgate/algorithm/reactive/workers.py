"""How many workers the need of a cluster's jobs asks for: more at once, fewer when fewer were enough for a while."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headgate.options.reactive import WorkersOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """The workers of one cluster as Headgate wants them."""

    count: int
    """How many are asked for."""
    fewer_since: datetime | None = None
    """Since when fewer have been enough; None while all are needed, or nobody knows."""
    most_needed: int = 0
    """The most that were needed since then."""


def workers_for(slots: int, per_worker: int, options: WorkersOptions) -> int:
    """Give the workers that hold so many slots, within their bounds."""
    return min(max(-(-slots // max(1, per_worker)), options.least), options.most)


def fleet_after(fleet: Fleet, needed: int, now: datetime, options: WorkersOptions, *, may_shrink: bool) -> Fleet:
    """
    Give the workers to be had now.

    Args:
        fleet: before.
        needed: how many workers the jobs need, within the bounds; a job of which nobody knows it needs what it has.
        now: time of the decision.
        options: the interval in which fewer must have been enough.
        may_shrink: False while a job is changing, or not known well enough.
    """
    if needed >= fleet.count:
        return Fleet(count=needed)
    since = now if fleet.fewer_since is None else fleet.fewer_since
    most = max(needed, fleet.most_needed)
    if not may_shrink or now - since < options.scale_down_interval:
        return Fleet(count=fleet.count, fewer_since=since, most_needed=most)
    return Fleet(count=most)
