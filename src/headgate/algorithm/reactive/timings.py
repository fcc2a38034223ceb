"""
When other slots than before count: more of them once they have been there for a while, fewer once they stayed away.

Held as values between two looks. One that is lost with its process begins anew: nothing changes before it has waited.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headgate.options.reactive import ReactiveOptions

Step = tuple[datetime, int]
"""Since when a job's share has been so many slots."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offers:
    """The share of one job as it was offered lately."""

    settled: int | None = None
    """The share that counts; None before any has been there for long enough."""
    steps: tuple[Step, ...] = ()
    """Oldest first; the last is the offer of now, the first covers all that still matters."""

    @property
    def latest(self) -> int:
        """The share of now, whether it counts already or not."""
        return self.steps[-1][1] if self.steps else 0


def offered(offers: Offers, share: int, now: datetime, options: ReactiveOptions) -> Offers:
    """Give the offers after a look at the cluster."""
    steps = offers.steps if offers.steps and offers.latest == share else (*offers.steps, (now, share))
    longest = max(options.resource_stabilization, options.lost_worker_timeout)
    steps = tuple(step for step, end in _ended(steps, now) if end > now - longest or step is steps[-1])
    return replace(offers, settled=_settled(offers.settled, steps, now, options), steps=steps)


def _settled(settled: int | None, steps: tuple[Step, ...], now: datetime, options: ReactiveOptions) -> int | None:
    stable = _within(steps, now, options.resource_stabilization)
    if settled is None:
        return min(stable) if stable else None
    least, most = min(stable, default=settled), max(_within(steps, now, options.lost_worker_timeout), default=settled)
    if most < settled:
        return most
    return max(settled, least)


def _within(steps: tuple[Step, ...], now: datetime, span: timedelta) -> list[int]:
    """Give the shares of a span up to now; none where that reaches back before the first look."""
    begin = now - span
    if steps[0][0] > begin:
        return []
    return [share for (_, share), end in _ended(steps, now) if end > begin] or [steps[-1][1]]


def _ended(steps: tuple[Step, ...], now: datetime) -> list[tuple[Step, datetime]]:
    """Give each step with its end."""
    ends = [since for since, _ in steps[1:]]
    return list(zip(steps, [*ends, now], strict=True))
