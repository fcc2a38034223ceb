"""
What a vertex may run at while it is remembered which parallelism made its job sick.

The running parallelism always lies within, so a bound only ever holds a change back: nothing moves because of it, and
a vertex that somebody else has put across it is never sent further.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from headgate.algorithm.plan import Plan, groups
from headgate.algorithm.policies import LARGEST
from headgate.algorithm.rules import rules_of
from headgate.algorithm.wording import moment
from headgate.model.decision import Proposal
from headgate.model.identity import VertexId
from headgate.model.reasons import Reason
from headgate.model.rollback import ParallelismBound, Side
from headgate.model.topology import Topology
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Deviation

Bounds = Sequence[ParallelismBound]
"""Those of a whole job, expired ones among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """
    What bounds leave of the parallelism of a vertex, or of several that must have the same one.

    Those may contradict each other and leave nothing: `least` is above `most` then.
    """

    least: int = 0
    most: int = LARGEST
    floor: ParallelismBound | None = None
    """Why not less."""
    ceiling: ParallelismBound | None = None
    """Why not more."""

    def nearest(self, wanted: int) -> int:
        """Give the parallelism within that is nearest; of an empty room the most."""
        return min(max(wanted, self.least), self.most)

    def why_not(self, wanted: int) -> str:
        """Say which bound a parallelism lies beyond, why and until when; empty for one within."""
        bound = self.ceiling if wanted > self.most else self.floor if wanted < self.least else None
        return told(bound) if bound else ""

    def holding(self, proposal: Proposal) -> Proposal:
        """Give a proposal that is within."""
        detail = self.why_not(proposal.wanted)
        return proposal.limited_to(self.nearest(proposal.wanted), Reason.ROLLBACK_BOUND, detail)


EVERYWHERE = Room()
"""Without a bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Within:
    """A parallelism that crosses no bound."""

    parallelism: int
    why: str = ""
    """Which bound was in the way of what was wanted, why and until when; empty when none was."""


def within(bounds: Bounds, vertex: VertexId, current: int, wanted: int, now: datetime) -> Within:
    """
    Hold what is wanted for a vertex to its bounds.

    Args:
        bounds: of the job.
        vertex: which.
        current: its running parallelism: where that is across already, it goes no further, and need not go back.
        wanted: its wanted parallelism.
        now: a bound that has expired by then holds nothing.
    """
    room = room_of(bounds, vertex, current, now)
    return Within(parallelism=room.nearest(wanted), why=room.why_not(wanted))


def room_of(bounds: Bounds, vertex: VertexId, current: int, now: datetime) -> Room:
    """Give what the bounds of a job leave one vertex; what it runs at is always within."""
    mine = [bound for bound in bounds if bound.vertex == vertex and bound.expires_at > now]
    floor = max((bound for bound in mine if bound.side is Side.ABOVE), key=_limit, default=None)
    ceiling = min((bound for bound in mine if bound.side is Side.BELOW), key=_limit, default=None)
    return Room(
        least=min(current, floor.limit) if floor else 0,
        most=max(current, ceiling.limit) if ceiling else LARGEST,
        floor=floor,
        ceiling=ceiling,
    )


def common(rooms: Iterable[Room]) -> Room:
    """Give what is left to vertices that must have the same parallelism; empty where their bounds contradict."""
    known = list(rooms)
    highest = max(known, key=lambda room: room.least, default=EVERYWHERE)
    lowest = min(known, key=lambda room: room.most, default=EVERYWHERE)
    return Room(least=highest.least, most=lowest.most, floor=highest.floor, ceiling=lowest.ceiling)


def bounded(plan: Plan, topology: Topology, options: AutoscalerOptions, *, bounds: Bounds, now: datetime) -> Plan:
    """
    Hold a job's proposals to its bounds, those that FORWARD edges tie together to the bounds of each of them.

    It comes after whatever may move a vertex further: a bound wins over the user's limits and over alignment.
    """
    if not bounds:
        return plan
    rooms = {each.vertex: room_of(bounds, each.vertex, each.current, now) for each in plan}
    if Deviation.FORWARD_EQUAL in rules_of(options):
        for tied in groups(topology):
            rooms |= dict.fromkeys(tied, common(rooms[vertex] for vertex in tied))
    return tuple(rooms[each.vertex].holding(each) for each in plan)


def told(bound: ParallelismBound) -> str:
    """Word a bound: what made the job sick, when, how that showed, and until when it counts."""
    further = "more" if bound.side is Side.BELOW else "fewer"
    since = f" from {moment(bound.began_at)} on" if bound.began_at else ""
    well = f", with {bound.well} it was well" if bound.well is not None else ""
    return (
        f"with {bound.parallelism} subtasks or {further} the job was sick{since}{well}: {bound.why}; "
        f"remembered until {moment(bound.expires_at)}"
    )


def _limit(bound: ParallelismBound) -> int:
    return bound.limit
