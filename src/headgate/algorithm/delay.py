"""
The delayed scale-down: a vertex shrinks only after it has wanted to for a while, and then to the most it wished.

A sliding maximum, kept as a queue that strictly decreases. Source: the reference's `DelayedScaleDown` (FLINK-36535).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from headgate.algorithm.policies import Policy
from headgate.model.decision import Proposal
from headgate.model.reasons import Reason
from headgate.model.state import DelayedScaleDown, Wish
from headgate.options.units import format_duration


def noted(pending: DelayedScaleDown | None, wish: Wish) -> DelayedScaleDown:
    """Add a wish; earlier ones that were not larger can never be the maximum again."""
    if pending is None:
        return DelayedScaleDown(first_at=wish.at, wishes=(wish,))
    larger = tuple(old for old in pending.wishes if old.parallelism > wish.parallelism)
    return replace(pending, wishes=(*larger, wish))


def largest_wish(pending: DelayedScaleDown, since: datetime) -> tuple[Wish, DelayedScaleDown]:
    """
    Give the largest wish since an instant, the instant included, and what is pending without the older ones.

    Raises:
        ValueError: nothing was wished since then.
    """
    young = tuple(wish for wish in pending.wishes if wish.at >= since)
    if not young:
        message = f"no wish since {since}"
        raise ValueError(message)
    return young[0], replace(pending, wishes=young)


def shrinking_late(interval: timedelta, now: datetime) -> Policy:
    """
    Hold a wish to shrink back until the first one is as old as the interval.

    A vertex that wishes to stay or to grow forgets its wishes. An interval of zero or less holds nothing back.
    """

    def policy(proposal: Proposal) -> Proposal:
        if proposal.wanted >= proposal.current:
            return replace(proposal, delayed=None)
        if interval <= timedelta():
            return proposal
        pending = noted(proposal.delayed, Wish(at=now, parallelism=proposal.wanted, outside=proposal.outside))
        if now - pending.first_at < interval:
            detail = f"wanted since {_ago(pending, now)}, for {format_duration(interval)} it must be"
            kept = replace(proposal, delayed=pending)
            return kept.limited_to(proposal.current, Reason.SCALE_DOWN_DELAYED, detail)
        wish, left = largest_wish(pending, now - interval)
        detail = f"the largest parallelism wished within {format_duration(interval)}"
        granted = replace(proposal, delayed=left, outside=wish.outside)
        # somebody may have shrunk it by hand since
        return granted.limited_to(min(wish.parallelism, proposal.current), Reason.SCALE_DOWN_DELAYED, detail)

    return policy


def _ago(pending: DelayedScaleDown, now: datetime) -> str:
    return f"{(now - pending.first_at).total_seconds():.0f} s"
