"""From a job's share of the slots, and what its policy makes of it, to a decision; nothing is done here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from headgate.algorithm.bounds import bounded
from headgate.algorithm.decide import decision_id
from headgate.algorithm.permission import excluded_period
from headgate.algorithm.plan import Plan, with_equal_ends
from headgate.algorithm.policies import is_held
from headgate.algorithm.reactive.slots import largest, slots_of, within_slots
from headgate.algorithm.resources import Rescale, quota_reached
from headgate.algorithm.rules import rules_of
from headgate.algorithm.signals import closed_to_all
from headgate.model.decision import Decision, Outcome, Proposal
from headgate.model.identity import VertexId
from headgate.model.metrics import EvaluatedMetrics
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.model.state import JobState
from headgate.model.topology import Topology, Vertex
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Deviation
from headgate.options.reactive import Demand
from headgate.options.units import format_duration


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """All that a reactive decision is made of."""

    sample: JobSample
    options: AutoscalerOptions
    state: JobState
    now: datetime
    slots: int
    """The job's share."""
    total: int
    """Slots of the whole cluster."""
    wanted: Mapping[VertexId, int]
    """What the policy gives; a vertex that is not named keeps its own."""
    need: Decision
    """What the job's load asks for."""


def react(reaction: Reaction) -> Decision:
    """Decide for one reactive job: the same arguments give the same decision, id included."""
    plan = _plan(reaction)
    sample, evaluated = reaction.sample, reaction.need.evaluated
    outcome, reason, message = _verdict(plan, reaction)
    decision = Decision(
        id=decision_id(sample.job, reaction.now, plan),
        job=sample.job,
        at=reaction.now,
        outcome=outcome,
        reason=reason,
        message=message,
        fingerprint=sample.topology.fingerprint,
        proposals=plan,
        evaluated=evaluated if isinstance(evaluated, EvaluatedMetrics) else None,
        delayed=reaction.need.delayed,
        notices=reaction.need.notices,
        signals=reaction.need.signals,
    )
    return _permitted(decision, reaction) if outcome is Outcome.RESCALE else decision


def kept(decision: Decision, sample: JobSample, reason: Reason, message: str) -> Decision:
    """Keep a reactive job as it runs, with the numbers that are known of it."""
    return replace(
        decision,
        outcome=Outcome.KEEP,
        reason=reason,
        message=message,
        fingerprint=sample.topology.fingerprint,
        proposals=sample.topology.unchanged,
    )


def _plan(reaction: Reaction) -> Plan:
    options, topology = reaction.options, reaction.sample.topology
    plan = tuple(_proposal(vertex, reaction) for vertex in topology.vertices)
    if Deviation.FORWARD_EQUAL in rules_of(options):
        plan = with_equal_ends(topology, plan, options)
    plan = bounded(plan, topology, options, bounds=reaction.state.bounds, now=reaction.now)
    return _fitted(plan, topology, reaction.slots)


def _fitted(plan: Plan, topology: Topology, slots: int) -> Plan:
    fitting = within_slots(topology, {proposal.vertex: proposal.wanted for proposal in plan}, slots)
    detail = f"the job's share are {slots} slots"
    return tuple(proposal.limited_to(fitting[proposal.vertex], Reason.SLOT_SHARE, detail) for proposal in plan)


def held_to_share(decision: Decision, topology: Topology, slots: int) -> Decision:
    """Hold a rescale to the job's share again, after somebody's decision plugin had its say."""
    return replace(decision, proposals=_fitted(decision.proposals, topology, slots))


def _proposal(vertex: Vertex, reaction: Reaction) -> Proposal:
    options = reaction.options
    proposal = replace(vertex.unchanged, outside=True)
    if is_held(vertex, options):
        return proposal
    wanted, most = reaction.wanted.get(vertex.id, vertex.parallelism), largest(vertex, options)
    detail = f"{options.reactive.policy} over {reaction.slots} of {reaction.total} slots"
    proposal = proposal.limited_to(wanted, Reason.SLOT_SHARE, detail)
    if options.reactive.demand is Demand.NEED:
        asked = reaction.need.changes.get(vertex.id)
        needed = min(proposal.wanted, asked.wanted if asked else vertex.parallelism)
        proposal = proposal.limited_to(needed, Reason.NEED, "its load asks for no more")
    least = min(options.min_parallelism, most)
    proposal = proposal.limited_to(max(proposal.wanted, least), Reason.MIN_PARALLELISM, f"{least} at least")
    detail = f"the vertex can have {most} at most"
    return proposal.limited_to(min(proposal.wanted, most), Reason.VERTEX_MAX_PARALLELISM, detail)


_Verdict = tuple[Outcome, Reason, str]


def _verdict(plan: Plan, reaction: Reaction) -> _Verdict:
    share = f"the job's share is {reaction.slots} of {reaction.total} slots"
    if not any(proposal.changes for proposal in plan):
        used = slots_of(reaction.sample.topology)
        return Outcome.KEEP, Reason.BALANCED, f"{share}, {used} of them in use, as its policy wants"
    for obstacle in (_too_small, _too_long_after_checkpoint):
        if found := obstacle(plan, reaction):
            reason, why = found
            return Outcome.KEEP, reason, f"{share}, but {why}"
    changes = ", ".join(f"{each.name} {each.current} -> {each.wanted}" for each in plan if each.changes)
    return Outcome.RESCALE, Reason.SLOT_SHARE, f"{share}: {changes}"


def _too_small(plan: Plan, reaction: Reaction) -> tuple[Reason, str] | None:
    """Leave a growth out that is not worth a rescale; shrinking is never a matter of size."""
    gains = [proposal.wanted - proposal.current for proposal in plan]
    least = reaction.options.reactive.min_parallelism_increase
    if min(gains) < 0 or sum(gains) >= least:
        return None
    return Reason.INCREASE_TOO_SMALL, f"{sum(gains)} subtasks more are fewer than min-parallelism-increase {least}"


def _too_long_after_checkpoint(plan: Plan, reaction: Reaction) -> tuple[Reason, str] | None:
    age, at = reaction.options.reactive.checkpoint_age, reaction.sample.checkpointed_at
    if age is None or all(proposal.wanted <= proposal.current for proposal in plan):
        return None
    if at is not None and reaction.now - at <= age:
        return None
    last = "no checkpoint is known" if at is None else f"the last checkpoint is of {at:%H:%M:%S} UTC"
    return Reason.CHECKPOINT_AWAITED, f"{last}, and it grows only within {format_duration(age)} after one"


def _permitted(decision: Decision, reaction: Reaction) -> Decision:
    """Hold a rescale to gates, to times without scaling and to the job's quota."""
    sample, options = reaction.sample, reaction.options
    if closed := closed_to_all(sample, options, reaction.now):
        return replace(decision, outcome=Outcome.KEEP, reason=Reason.GATE, message=f"{decision.message}; but {closed}")
    if not options.scaling_enabled:
        return replace(decision, reason=Reason.ADVICE, message=f"{decision.message}; scaling.enabled is false")
    if (period := excluded_period(options, reaction.now)) is not None:
        message = f"{decision.message}; not now, by excluded.periods {period}"
        return replace(decision, reason=Reason.EXCLUDED_PERIOD, message=message)
    quota = quota_reached(Rescale.of(sample.topology, decision.proposals), sample.settings, options, true_total=True)
    if quota is None:
        return decision
    refused = replace(decision, outcome=Outcome.KEEP, reason=Reason.RESOURCE_QUOTA, message=quota.message)
    return replace(refused, notices=(*decision.notices, quota))


def needed_slots(decision: Decision, sample: JobSample) -> int:
    """Give the slots that a job needs by a decision: what it is to become, or what it has where nothing changes."""
    wanted = {vertex: proposal.wanted for vertex, proposal in decision.changes.items()}
    return slots_of(sample.topology, wanted)
