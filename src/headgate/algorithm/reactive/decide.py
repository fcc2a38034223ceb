"""From a job's share of the slots, and what its policy makes of it, to a decision; nothing is done here."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from headgate.algorithm.bounds import bounded
from headgate.algorithm.decide import decision_id
from headgate.algorithm.lag import surely_shrinking
from headgate.algorithm.permission import excluded_period, within_quota
from headgate.algorithm.plan import Plan, with_equal_ends
from headgate.algorithm.policies import is_held, not_shrinking_in_backlog, not_shrinking_while_busy
from headgate.algorithm.propose import UNKNOWN
from headgate.algorithm.reactive.slots import largest, slots_of, within_slots
from headgate.algorithm.rules import rules_of
from headgate.algorithm.signals import closed_to_all, signalled
from headgate.model.decision import Decision, Outcome, Proposal
from headgate.model.identity import VertexId
from headgate.model.metrics import EvaluatedMetrics
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.model.state import JobState
from headgate.model.topology import Vertex
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Deviation
from headgate.options.reactive import Demand
from headgate.options.units import format_duration


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """All that a reactive decision is made of, and what the wishes for its job are held to. A `review.Chain`."""

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

    def held(self, plan: Plan, asked: Collection[VertexId]) -> Plan:
        """
        Hold the wishes that somebody has for some vertices to the rules; the others have passed them before.

        What its slots force a job to is done whatever is in doubt; nothing else shrinks it then.
        """
        topology, evaluated = self.sample.topology, self.need.evaluated
        limited = (_limited(each, topology.by_id[each.vertex], self) if each.vertex in asked else each for each in plan)
        plan = tuple(_undoubted(each, evaluated, self.options) if each.vertex in asked else each for each in limited)
        plan = surely_shrinking(plan, self.sample, self.options, self.state)
        plan = signalled(plan, self.sample, self.options, now=self.now, state=self.state)
        return _together(plan, self)

    def verdict(self, plan: Plan) -> tuple[Outcome, Reason, str]:
        """Tell whether a plan is worth a rescale."""
        return _verdict(plan, self)

    def permitted(self, decision: Decision) -> Decision:
        """Look again whether a rescale that has become another one is within the quota."""
        if decision.outcome is not Outcome.RESCALE:
            return decision
        return within_quota(decision, self.sample, self.options, true_total=True)


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
    return _together(tuple(_proposal(vertex, reaction) for vertex in reaction.sample.topology.vertices), reaction)


def _together(plan: Plan, reaction: Reaction) -> Plan:
    """Apply the rules that concern several vertices, the job's share last."""
    options, topology, slots = reaction.options, reaction.sample.topology, reaction.slots
    if Deviation.FORWARD_EQUAL in rules_of(options):
        plan = with_equal_ends(topology, plan, options)
    plan = bounded(plan, topology, options, bounds=reaction.state.bounds, now=reaction.now)
    fitting = within_slots(topology, {proposal.vertex: proposal.wanted for proposal in plan}, slots)
    detail = f"the job's share are {slots} slots"
    return tuple(proposal.limited_to(fitting[proposal.vertex], Reason.SLOT_SHARE, detail) for proposal in plan)


def _proposal(vertex: Vertex, reaction: Reaction) -> Proposal:
    proposal, wanted = replace(vertex.unchanged, outside=True), reaction.wanted.get(vertex.id, vertex.parallelism)
    if is_held(vertex, reaction.options):
        return proposal
    detail = f"{reaction.options.reactive.policy} over {reaction.slots} of {reaction.total} slots"
    return _limited(proposal.limited_to(wanted, Reason.SLOT_SHARE, detail), vertex, reaction)


def _limited(proposal: Proposal, vertex: Vertex, reaction: Reaction) -> Proposal:
    """Hold a wish for a vertex to what its load asks for, where that counts, and to what it can have."""
    options, most = reaction.options, largest(vertex, reaction.options)
    if is_held(vertex, options):
        return proposal.limited_to(proposal.current, Reason.EXCLUDED, "excluded, or finished")
    if options.reactive.demand is Demand.NEED:
        asked = reaction.need.changes.get(vertex.id)
        needed = min(proposal.wanted, asked.wanted if asked else vertex.parallelism)
        proposal = proposal.limited_to(needed, Reason.NEED, "its load asks for no more")
    least = min(options.min_parallelism, most)
    proposal = proposal.limited_to(max(proposal.wanted, least), Reason.MIN_PARALLELISM, f"{least} at least")
    detail = f"the vertex can have {most} at most"
    return proposal.limited_to(min(proposal.wanted, most), Reason.VERTEX_MAX_PARALLELISM, detail)


def _undoubted(proposal: Proposal, evaluated: EvaluatedMetrics | None, options: AutoscalerOptions) -> Proposal:
    """Let a vertex not shrink by anybody's wish while it is busy, or works off a backlog."""
    if evaluated is None:
        return proposal
    rules, metrics = rules_of(options), evaluated.vertices.get(proposal.vertex, UNKNOWN)
    awake = not_shrinking_while_busy(metrics, options, hold=Deviation.BUSY_KEEPS in rules)
    return not_shrinking_in_backlog(backlog=evaluated.backlog and Deviation.BACKLOG_KEEPS in rules)(awake(proposal))


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
    return within_quota(decision, sample, options, true_total=True)


def needed_slots(decision: Decision, sample: JobSample) -> int:
    """Give the slots that a job needs by a decision: what it is to become, or what it has where nothing changes."""
    wanted = {vertex: proposal.wanted for vertex, proposal in decision.changes.items()}
    return slots_of(sample.topology, wanted)
