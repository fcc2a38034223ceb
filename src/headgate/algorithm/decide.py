"""
From one job's evaluated metrics to a decision, step by step and with its reasons; nothing is done here.

Whether a wanted rescale is carried out is the control loop's business: `Decision.acts` is always False here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Self

from headgate.algorithm.agreement import forecasted
from headgate.algorithm.alignment import OwnAlignment
from headgate.algorithm.bounds import bounded
from headgate.algorithm.history import aged
from headgate.algorithm.lag import brokers_unknown, notice_brokers_unknown, surely_shrinking
from headgate.algorithm.memory.pressure import memory_pressure
from headgate.algorithm.obligation import owed_by
from headgate.algorithm.permission import permitted, within_quota, worthwhile
from headgate.algorithm.plan import Plan, planned
from headgate.algorithm.propose import JobSituation, proposed, ruled
from headgate.algorithm.rules import rules_of
from headgate.algorithm.sharing import evened, shared
from headgate.algorithm.signals import signalled, with_signals
from headgate.algorithm.verdict import IN_BALANCE, verdict
from headgate.algorithm.weighing import eager, surely_needing_less
from headgate.model.decision import ConfigChanges, Decision, Notice, Outcome, Proposal
from headgate.model.events import EventReason, EventType
from headgate.model.identity import JobKey, VertexId
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.model.state import UNSEEN, DelayedScaleDown, JobState
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Deviation


def decide(
    sample: JobSample,
    evaluated: EvaluatedMetrics | NotReady,
    options: AutoscalerOptions,
    now: datetime,
    state: JobState = UNSEEN,
    *,
    align: OwnAlignment | None = None,
) -> Decision:
    """
    Decide for one job by its numbers and its past: the same arguments give the same decision, id included.

    `align` takes the place of the built-in alignment modes.
    """
    decision = _decide(sample, evaluated, options, now, state=state, align=align)
    return with_signals(decision, sample, options, now)


def _decide(
    sample: JobSample,
    evaluated: EvaluatedMetrics | NotReady,
    options: AutoscalerOptions,
    now: datetime,
    *,
    state: JobState,
    align: OwnAlignment | None,
) -> Decision:
    if isinstance(evaluated, NotReady):
        return not_ready(sample.job, evaluated, now, sample)
    if pressure := memory_pressure(evaluated, options):
        return _under_pressure(sample, evaluated, pressure, now)
    if evaluated.balanced and is_unburdened(aged(state, now, options)):
        return in_balance(sample.job, sample.topology.unchanged, evaluated, now, sample.topology.fingerprint)
    # Once for all: the metrics of a vertex may be made anew each time that they are asked for.
    evaluated = replace(evaluated, vertices=dict(evaluated.vertices.items()))
    chain = LoadChain.of(sample, evaluated, options, now, state=state, align=align)
    proposals, owed = chain.proposed(), chain.case.owed
    outcome, reason, message = chain.verdict(proposals)
    decision = Decision(
        id=decision_id(sample.job, now, proposals),
        job=sample.job,
        at=now,
        outcome=outcome,
        reason=reason,
        message=message,
        fingerprint=sample.topology.fingerprint,
        proposals=proposals,
        evaluated=evaluated,
        delayed=_waiting(proposals),
        notices=tuple(notice for proposal in proposals for notice in proposal.notices),
    )
    if outcome is Outcome.RESCALE:
        decision = permitted(decision, sample, evaluated, chain.options, chain.state.history)
    return forecasted(decision, owed) if owed else decision


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadChain:
    """What the wishes for a job that follows its load are held to, wherever they come from. A `review.Chain`."""

    sample: JobSample
    case: JobSituation

    @classmethod
    def of(
        cls,
        sample: JobSample,
        evaluated: EvaluatedMetrics,
        options: AutoscalerOptions,
        now: datetime,
        *,
        state: JobState = UNSEEN,
        align: OwnAlignment | None = None,
    ) -> Self:
        """Build the chain of one decision."""
        state, topology = aged(state, now, options), sample.topology
        options = eager(options) if evaluated.arrival is not None else options
        case = JobSituation(
            topology=topology,
            evaluated=evaluated,
            options=options,
            now=now,
            state=state,
            owed=owed_by(topology, evaluated, options, now, state),
            align=align,
        )
        return cls(sample=sample, case=case)

    @property
    def options(self) -> AutoscalerOptions:
        """Return the options that hold."""
        return self.case.options

    @property
    def state(self) -> JobState:
        """Return what counts of the job's past."""
        return self.case.state

    def proposed(self) -> Plan:
        """Return what the job's numbers wish for, as far as the rules allow that."""
        return self._together(proposed(self.case))

    def held(self, plan: Plan, asked: Collection[VertexId]) -> Plan:
        """Hold the wishes that somebody has for some vertices to the rules; the others have passed them before."""
        waiting = self.state.delayed

        def held(wish: Proposal) -> Proposal:
            return ruled(self.case, replace(wish, delayed=waiting.get(wish.vertex)) if wish.changes else wish)

        return self._together(tuple(held(each) if each.vertex in asked else each for each in plan))

    def verdict(self, plan: Plan) -> tuple[Outcome, Reason, str]:
        """Tell whether a plan is worth a rescale."""
        return verdict(plan, self.case.evaluated, self.options)

    def permitted(self, decision: Decision) -> Decision:
        """Look again whether a rescale that has become another one is worth it, in time and within the quota."""
        decision = replace(decision, delayed=_waiting(decision.proposals))
        if decision.changes:
            weighed = worthwhile(decision, self.sample, self.case.evaluated, self.options, self.state.history)
            if weighed.outcome is not Outcome.RESCALE:
                return replace(weighed, config=ConfigChanges())
            decision = replace(weighed, message=decision.message)
        if decision.outcome is not Outcome.RESCALE:
            return decision
        true_total = Deviation.TRUE_QUOTA in rules_of(self.options)
        return within_quota(decision, self.sample, self.options, true_total=true_total)

    def _together(self, plan: Plan) -> Plan:
        """Apply the rules that concern several vertices, in their order."""
        sample, case = self.sample, self.case
        topology, options, state, now = case.topology, case.options, case.state, case.now
        plan = shared(planned(topology, plan, options), sample, options)
        plan = bounded(plan, topology, options, bounds=state.bounds, now=now)
        plan = surely_shrinking(plan, sample, options, state)
        running_s = (now - sample.running_since).total_seconds()
        plan = surely_needing_less(plan, case.evaluated, options, state, running_s)
        return evened(signalled(plan, sample, options, now=now, state=state), sample)


def _waiting(plan: Plan) -> Mapping[VertexId, DelayedScaleDown]:
    return {proposal.vertex: proposal.delayed for proposal in plan if proposal.delayed}


def is_unburdened(state: JobState) -> bool:
    """Tell whether a job remembers nothing that could move a vertex whose numbers do not."""
    return not state.history and not state.delayed


def in_balance(
    job: JobKey, unchanged: tuple[Proposal, ...], evaluated: EvaluatedMetrics, now: datetime, fingerprint: str
) -> Decision:
    """Keep every vertex of a job as it is, since the numbers say so already: what the policies would have said."""
    return Decision(
        id=decision_id(job, now, unchanged),
        job=job,
        at=now,
        outcome=Outcome.KEEP,
        reason=Reason.BALANCED,
        message=IN_BALANCE,
        fingerprint=fingerprint,
        proposals=unchanged,
        evaluated=evaluated,
        delayed={},
    )


def not_ready(job: JobKey, why: NotReady, now: datetime, sample: JobSample | None = None) -> Decision:
    """Decide nothing, for a reason; by its latest sample a job may lack something that it is told of at once."""
    return Decision(
        id=decision_id(job, now),
        job=job,
        at=now,
        outcome=Outcome.NOT_READY,
        reason=why.reason,
        message=why.message,
        notices=tuple(_unready_notices(why, sample)),
    )


def _unready_notices(why: NotReady, sample: JobSample | None) -> Iterator[Notice]:
    if why.reason is Reason.INPUT_CUT_OFF:
        yield _cut_off(why)
    if sample is not None and brokers_unknown(sample):
        yield notice_brokers_unknown(sample.job)


def _cut_off(why: NotReady) -> Notice:
    message = f"{why.message}; nothing is decided until it reads again"
    return Notice(type=EventType.WARNING, reason=EventReason.INPUT_CUT_OFF, message=message, key="cut-off")


def _under_pressure(sample: JobSample, evaluated: EvaluatedMetrics, pressure: Notice, now: datetime) -> Decision:
    """Keep everything: what a starving job measures is not what it could do."""
    return Decision(
        id=decision_id(sample.job, now),
        job=sample.job,
        at=now,
        outcome=Outcome.KEEP,
        reason=Reason.MEMORY_PRESSURE,
        message=pressure.message,
        fingerprint=sample.topology.fingerprint,
        evaluated=evaluated,
        notices=(pressure,),
    )


def decision_id(job: JobKey, at: datetime, proposals: Iterable[Proposal] = ()) -> str:
    """Give a short text that is the same wherever the same decision is computed."""
    wanted = sorted(f"{proposal.vertex}={proposal.wanted}" for proposal in proposals)
    text = "\n".join([str(job), at.astimezone(UTC).isoformat(), *wanted])
    return hashlib.sha256(text.encode()).hexdigest()[:12]
