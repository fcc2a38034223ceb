"""What the vertices' proposals owe each other: none is moved for nothing, and tied ones move together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from headgate.algorithm.policies import is_held
from headgate.algorithm.rules import rules_of
from headgate.model.decision import Proposal
from headgate.model.identity import VertexId
from headgate.model.reasons import Reason
from headgate.model.state import JobState
from headgate.model.topology import ShipStrategy, Topology
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Deviation

Plan = tuple[Proposal, ...]


def planned(topology: Topology, proposals: Plan, options: AutoscalerOptions) -> Plan:
    """Hold the proposals of a job together."""
    rules = rules_of(options)
    if Deviation.NO_DRAG in rules:
        proposals = undragged(proposals)
    return with_equal_ends(topology, proposals, options) if Deviation.FORWARD_EQUAL in rules else proposals


def not_shrinking(plan: Plan, state: JobState, reason: Reason, why: str) -> Plan:
    """Keep what would shrink. A wish that waits already goes on waiting; none begins on numbers that lack something."""

    def held(proposal: Proposal) -> Proposal:
        if proposal.delayed:
            proposal = replace(proposal, delayed=state.delayed.get(proposal.vertex))
        if proposal.wanted >= proposal.current:
            return proposal
        kept = proposal.limited_to(proposal.current, reason, f"{why}; nothing shrinks")
        return replace(kept, delayed=state.delayed.get(proposal.vertex))

    return tuple(map(held, plan))


def undragged(proposals: Plan) -> Plan:
    """Leave a vertex within its band where it is, if it would change by one only because another has cause to."""
    if not any(proposal.changes and proposal.outside for proposal in proposals):
        return proposals
    detail = "within its band, and not worth one step up or down"
    return tuple(
        proposal.limited_to(proposal.current, Reason.WITHIN_BAND, detail)
        if not proposal.outside and abs(proposal.wanted - proposal.current) == 1 and not _is_owed(proposal)
        else proposal
        for proposal in proposals
    )


def _is_owed(proposal: Proposal) -> bool:
    """Tell whether an agreement asks for a growth: the job would recover too late from the rescale without it."""
    return proposal.wanted > proposal.current and any(step.reason is Reason.AGREEMENT for step in proposal.steps)


def with_equal_ends(topology: Topology, proposals: Plan, options: AutoscalerOptions) -> Plan:
    """
    Give vertices that FORWARD edges tie together the largest parallelism wanted among them, as far as all can go there.

    With an excluded vertex among them none is changed. Ends that already run apart are tied no longer, nor are those of
    which one has finished. A vertex that is moved against its own wish, or without one, is no cause for the rescale.
    """
    if all(edge.ship_strategy is not ShipStrategy.FORWARD for edge in topology.edges):
        return proposals
    wanted = {proposal.vertex: proposal.wanted for proposal in proposals}
    common: dict[VertexId, int] = {}
    for tied in groups(topology):
        running = topology.by_id[tied[0]].parallelism
        stays = any(is_held(topology.by_id[vertex], options) for vertex in tied)
        most = min(topology.by_id[vertex].largest for vertex in tied)
        target = running if stays else min(max(wanted[vertex] for vertex in tied), most)
        common |= dict.fromkeys(tied, target)
    return tuple(_at_common(proposal, common) for proposal in proposals)


def groups(topology: Topology) -> Iterator[Sequence[VertexId]]:
    """Give the vertices that are tied together, two or more at a time, in topological order."""
    root = {vertex.id: vertex.id for vertex in topology.vertices}
    for edge in topology.edges:
        ends = topology.by_id[edge.source], topology.by_id[edge.target]
        runs_on = not any(end.finished for end in ends)
        if edge.ship_strategy is ShipStrategy.FORWARD and runs_on and ends[0].parallelism == ends[1].parallelism:
            one, other = root[edge.source], root[edge.target]
            root = {vertex: one if at == other else at for vertex, at in root.items()}
    members: dict[VertexId, list[VertexId]] = {}
    for vertex, at in root.items():
        members.setdefault(at, []).append(vertex)
    return (tied for tied in members.values() if len(tied) > 1)


def _at_common(proposal: Proposal, common: Mapping[VertexId, int]) -> Proposal:
    wanted = common.get(proposal.vertex, proposal.wanted)
    is_own = (wanted > proposal.current) == (proposal.wanted > proposal.current)
    tied = proposal.limited_to(wanted, Reason.FORWARD, "a FORWARD edge ties it to another vertex")
    return replace(tied, outside=tied.outside and (is_own or not tied.changes))
