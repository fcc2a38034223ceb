"""
A wanted rescale after somebody's decision plugin had its say: held to the job's bounds again, or forbidden.

Whoever writes a plugin may err; what is never done without it is never done with it either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from headgate.algorithm.bounds import bounded
from headgate.algorithm.decide import decision_id
from headgate.algorithm.outlook import reckoned
from headgate.algorithm.plan import Plan, with_equal_ends
from headgate.algorithm.policies import (
    Limits,
    Policy,
    at_least,
    at_most,
    held,
    not_shrinking_early,
    not_shrinking_in_backlog,
    step_down_within,
    within_key_groups,
    within_partitions,
)
from headgate.algorithm.resources import Rescale, quota_reached
from headgate.algorithm.rules import rules_of
from headgate.algorithm.sharing import evened, shared
from headgate.algorithm.signals import closed_to_all, signalled
from headgate.model.decision import ConfigChanges, Decision, Notice, Outcome, Proposal
from headgate.model.events import EventReason, EventType
from headgate.model.identity import VertexId
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.model.state import JobState
from headgate.model.topology import Vertex
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Deviation


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What a job is held to."""

    sample: JobSample
    options: AutoscalerOptions
    state: JobState


def amended(
    decision: Decision, wanted: Mapping[VertexId, int], config: ConfigChanges, bounds: Bounds, *, plugin: str
) -> Decision:
    """
    Give a rescale as a plugin wants it, as far as the job's bounds allow that.

    Args:
        decision: the rescale.
        wanted: parallelism of the vertices that are to change; the others stay, unknown ones are left out.
        config: replaces the changes of the configuration.
        bounds: of the job.
        plugin: its name, for the trail.
    """
    plan = tuple(_bounded(proposal, wanted, decision, bounds, plugin=plugin) for proposal in decision.proposals)
    topology, options = bounds.sample.topology, bounds.options
    if Deviation.FORWARD_EQUAL in rules_of(options):
        plan = with_equal_ends(topology, plan, options)
    plan = shared(plan, bounds.sample, options)
    plan = bounded(plan, topology, options, bounds=bounds.state.bounds, now=decision.at)
    plan = evened(signalled(plan, bounds.sample, options, now=decision.at, state=bounds.state), bounds.sample)
    closed = closed_to_all(bounds.sample, options, decision.at)
    if closed:
        config = ConfigChanges()
    settings = _added(decision.config, config).entries
    unknown = [f"no vertex {vertex} (left out)" for vertex in sorted(wanted.keys() - topology.by_id.keys())]
    changed = replace(
        decision,
        id=decision_id(decision.job, decision.at, plan),
        message=decision.message + _told(decision.proposals, plan, [*settings, *unknown], plugin=plugin),
        proposals=plan,
        config=config,
    )
    if changed.changes or config != ConfigChanges():
        return reckoned(changed, topology, options, bounds.state)
    why = f"as {closed}" if closed else "within the bounds of the job"
    message = f"plugin {plugin} leaves nothing to change {why}: {decision.message}"
    reason = Reason.GATE if closed else Reason.LIMITED
    return replace(changed, outcome=Outcome.KEEP, reason=reason, message=message)


def forbidden(decision: Decision, *, plugin: str) -> Decision:
    """Keep the job as it is because a plugin forbids the rescale, and notice that."""
    notice = Notice(
        reason=EventReason.SCALING_VETOED,
        type=EventType.NORMAL,
        message=f"plugin {plugin} forbids: {decision.message}",
        key=f"{EventReason.SCALING_VETOED}:{plugin}",
        fields={"plugin": plugin},
    )
    return replace(
        decision,
        outcome=Outcome.KEEP,
        reason=Reason.SCALING_VETOED,
        message=notice.message,
        config=ConfigChanges(),
        notices=(*decision.notices, notice),
    )


def within_quota(decision: Decision, bounds: Bounds) -> Decision:
    """Keep the job as it is where what plugins made of the rescale exceeds its quota, with the memory of now."""
    true_total = Deviation.TRUE_QUOTA in rules_of(bounds.options)
    rescale = Rescale.of(bounds.sample.topology, decision.proposals)
    quota = quota_reached(rescale, bounds.sample.settings, bounds.options, true_total=true_total)
    if quota is None or decision.outcome is not Outcome.RESCALE:
        return decision
    kept = replace(decision, outcome=Outcome.KEEP, reason=Reason.RESOURCE_QUOTA, message=quota.message)
    return replace(kept, notices=(*decision.notices, quota), config=ConfigChanges())


def _bounded(
    proposal: Proposal, wanted: Mapping[VertexId, int], decision: Decision, bounds: Bounds, *, plugin: str
) -> Proposal:
    detail = f"plugin {plugin} wants it" if proposal.vertex in wanted else f"plugin {plugin} wants no change"
    asked = proposal.limited_to(wanted.get(proposal.vertex, proposal.current), Reason.DECISION_PLUGIN, detail)
    backlog = decision.evaluated is not None and decision.evaluated.backlog
    granted = proposal.wanted if proposal.delayed else None
    policies = _policies(bounds.sample.topology.by_id[proposal.vertex], bounds.options, backlog=backlog)
    for policy in (*policies, not_shrinking_early(granted)):
        asked = policy(asked)
    return asked


def _policies(vertex: Vertex, options: AutoscalerOptions, *, backlog: bool) -> tuple[Policy, ...]:
    rules, limits = rules_of(options), Limits.of(vertex, options)
    partitions = vertex.partitions if Deviation.PARTITIONS_BOUND in rules else None
    return (
        step_down_within(options.scale_down_max_factor),
        at_least(limits),
        at_most(limits),
        within_key_groups(vertex.max_parallelism),
        within_partitions(partitions and max(partitions, vertex.parallelism)),
        not_shrinking_in_backlog(backlog=backlog and Deviation.BACKLOG_KEEPS in rules),
        held(hold=vertex.finished, why="the vertex has finished"),
        held(hold=vertex.id in options.vertex_exclude_ids, why="excluded by vertex.exclude.ids"),
    )


def _added(before: ConfigChanges, after: ConfigChanges) -> ConfigChanges:
    set_so = {key: value for key, value in after.overrides.items() if before.overrides.get(key) != value}
    return ConfigChanges(overrides=set_so, removals=after.removals - before.removals)


def _told(before: Plan, after: Plan, further: Sequence[str], *, plugin: str) -> str:
    """Say what a plugin changed; nothing where it changed nothing."""
    pairs = zip(before, after, strict=True)
    parts = [f"{new.name} {old.wanted} -> {new.wanted}" for old, new in pairs if old.wanted != new.wanted]
    told = ", ".join([*parts, *further])
    return f"; plugin {plugin}: {told}" if told else ""
