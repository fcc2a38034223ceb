"""
From one job's evaluated metrics to a decision, step by step and with its reasons; nothing is done here.

Whether a wanted rescale is carried out is the control loop's business: `Decision.acts` is always False here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from headgate.algorithm.agreement import forecasted
from headgate.algorithm.alignment import OwnAlignment
from headgate.algorithm.bounds import bounded
from headgate.algorithm.history import aged
from headgate.algorithm.lag import surely_shrinking
from headgate.algorithm.memory.pressure import memory_pressure
from headgate.algorithm.obligation import owed_by
from headgate.algorithm.permission import permitted
from headgate.algorithm.plan import planned
from headgate.algorithm.propose import propose
from headgate.algorithm.sharing import evened, shared
from headgate.algorithm.signals import signalled, with_signals
from headgate.algorithm.verdict import IN_BALANCE, verdict
from headgate.algorithm.weighing import eager, surely_needing_less
from headgate.model.decision import Decision, Notice, Outcome, Proposal
from headgate.model.events import EventReason, EventType
from headgate.model.identity import JobKey
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.model.state import UNSEEN, JobState
from headgate.options.autoscaler import AutoscalerOptions


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
    decision = _decide(sample, evaluated, options, now, state=aged(state, now, options), align=align)
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
        return not_ready(sample.job, evaluated, now)
    if pressure := memory_pressure(evaluated, options):
        return _under_pressure(sample, evaluated, pressure, now)
    if evaluated.balanced and is_unburdened(state):
        return in_balance(sample.job, sample.topology.unchanged, evaluated, now, sample.topology.fingerprint)
    # Once for all: the metrics of a vertex may be made anew each time that they are asked for.
    evaluated = replace(evaluated, vertices=dict(evaluated.vertices.items()))
    if evaluated.arrival is not None:
        options = eager(options)
    owed = owed_by(sample.topology, evaluated, options, now, state)
    proposals = propose(sample.topology, evaluated, options, now, state, owed=owed, align=align)
    proposals = shared(planned(sample.topology, proposals, options), sample, options)
    proposals = bounded(proposals, sample.topology, options, bounds=state.bounds, now=now)
    proposals = surely_shrinking(proposals, sample, options, state)
    running_s = (now - sample.running_since).total_seconds()
    proposals = surely_needing_less(proposals, evaluated, options, state, running_s)
    proposals = evened(signalled(proposals, sample, options, now=now, state=state), sample)
    outcome, reason, message = verdict(proposals, evaluated, options)
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
        delayed={proposal.vertex: proposal.delayed for proposal in proposals if proposal.delayed},
        notices=tuple(notice for proposal in proposals for notice in proposal.notices),
    )
    if outcome is Outcome.RESCALE:
        decision = permitted(decision, sample, evaluated, options, state.history)
    return forecasted(decision, owed) if owed else decision


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


def not_ready(job: JobKey, why: NotReady, now: datetime) -> Decision:
    """Decide nothing, for a reason."""
    return Decision(
        id=decision_id(job, now),
        job=job,
        at=now,
        outcome=Outcome.NOT_READY,
        reason=why.reason,
        message=why.message,
        notices=(_cut_off(why),) if why.reason is Reason.INPUT_CUT_OFF else (),
    )


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
