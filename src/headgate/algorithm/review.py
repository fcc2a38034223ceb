"""
A wanted rescale after somebody's decision plugin had its say: what it asks for is a wish like any other.

It goes through the chain of rules that the job's own wishes go through, so what is never done without a plugin is never
done with it either.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from headgate.algorithm.decide import decision_id
from headgate.algorithm.outlook import reckoned
from headgate.algorithm.plan import Plan
from headgate.algorithm.signals import closed_to_all
from headgate.model.decision import ConfigChanges, Decision, Notice, Outcome, Proposal
from headgate.model.events import EventReason, EventType
from headgate.model.identity import VertexId
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.model.state import JobState
from headgate.options.autoscaler import AutoscalerOptions


class Chain(Protocol):
    """The rules of one job: `decide.LoadChain` by its load, `reactive.decide.Reaction` by its slots."""

    @property
    def sample(self) -> JobSample:
        """Return what was decided on."""

    @property
    def options(self) -> AutoscalerOptions:
        """Return the options that hold."""

    @property
    def state(self) -> JobState:
        """Return the job's past."""

    def held(self, plan: Plan, asked: Collection[VertexId], /) -> Plan:
        """Hold the wishes that somebody has for some vertices to the rules; the others have passed them before."""

    def verdict(self, plan: Plan, /) -> tuple[Outcome, Reason, str]:
        """Tell whether a plan is worth a rescale, and why."""

    def permitted(self, decision: Decision, /) -> Decision:
        """Look again whether a rescale that has become another one may be made."""


def amended(
    decision: Decision, wanted: Mapping[VertexId, int], config: ConfigChanges, chain: Chain, *, plugin: str
) -> Decision:
    """
    Give a rescale as a plugin wants it, as far as the job's rules allow that.

    Args:
        decision: the rescale.
        wanted: parallelism of the vertices that are to change; the others stay, unknown ones are left out.
        config: replaces the changes of the configuration.
        chain: the rules.
        plugin: its name, for the trail.
    """
    wishes = tuple(_wish(proposal, wanted, plugin) for proposal in decision.proposals)
    asked = {new.vertex for new, old in zip(wishes, decision.proposals, strict=True) if new is not old}
    plan = chain.held(wishes, asked)
    closed = closed_to_all(chain.sample, chain.options, decision.at)
    if closed:
        config = ConfigChanges()
    outcome, reason, why = chain.verdict(plan)
    if closed and outcome is not Outcome.RESCALE:
        reason, why = Reason.GATE, closed
    if outcome is not Outcome.RESCALE:
        plan = tuple(each.limited_to(each.current, reason, why) for each in plan)
    topology, settings = chain.sample.topology, _added(decision.config, config).entries
    unknown = [f"no vertex {vertex} (left out)" for vertex in sorted(wanted.keys() - topology.by_id.keys())]
    told = _told(decision.proposals, plan, [*settings, *unknown], plugin=plugin)
    changed = replace(
        decision,
        id=decision_id(decision.job, decision.at, plan),
        message=decision.message + told,
        proposals=plan,
        config=config,
        notices=(*decision.notices, *_new_notices(plan, asked, decision)),
    )
    if outcome is Outcome.RESCALE or config != ConfigChanges():
        return reckoned(changed, topology, chain.options, chain.state)
    message = f"plugin {plugin} leaves nothing to change, as {why}"
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


def _wish(proposal: Proposal, wanted: Mapping[VertexId, int], plugin: str) -> Proposal:
    """Return what a plugin wishes for a vertex, as a cause of its own; the very same proposal where it agrees."""
    asked = wanted.get(proposal.vertex, proposal.current)
    if asked == proposal.wanted:
        return proposal
    detail = f"plugin {plugin} wants it" if proposal.vertex in wanted else f"plugin {plugin} wants no change"
    wish = replace(proposal, outside=True, expected_rate=None, notices=())
    return wish.limited_to(asked, Reason.DECISION_PLUGIN, detail)


def _new_notices(plan: Plan, asked: Collection[VertexId], decision: Decision) -> list[Notice]:
    noticed = (notice for proposal in plan if proposal.vertex in asked for notice in proposal.notices)
    return [notice for notice in noticed if notice not in decision.notices]


def _added(before: ConfigChanges, after: ConfigChanges) -> ConfigChanges:
    set_so = {key: value for key, value in after.overrides.items() if before.overrides.get(key) != value}
    return ConfigChanges(overrides=set_so, removals=after.removals - before.removals)


def _told(before: Plan, after: Plan, further: Sequence[str], *, plugin: str) -> str:
    """Say what a plugin changed; nothing where it changed nothing."""
    pairs = zip(before, after, strict=True)
    parts = [f"{new.name} {old.wanted} -> {new.wanted}" for old, new in pairs if old.wanted != new.wanted]
    told = ", ".join([*parts, *further])
    return f"; plugin {plugin}: {told}" if told else ""
