"""
Keeping an agreement: the least parallelism at which a job recovers in time, and no shrinking that would break it.

Nothing here reckons; `obligation` does. Source: Varga, Balassi and Kiss 2021.
"""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta

from headgate.algorithm.obligation import Owed
from headgate.algorithm.policies import Policy
from headgate.algorithm.sla import Load, backlog
from headgate.algorithm.wording import amount, span
from headgate.model.decision import Decision, Notice, Outcome, Proposal
from headgate.model.downtime import Downtime
from headgate.model.events import EventReason, EventType
from headgate.model.forecast import Forecast
from headgate.model.identity import VertexId
from headgate.model.reasons import Reason


def keeping_agreement(owed: Owed, vertex: VertexId) -> Policy:
    """
    Propose no less than what recovers in time, and shrink nothing where its own downtime would break what is agreed.

    A vertex that does not recover in time as it runs is a cause for a rescale, if that makes the job recover sooner.
    One that recovers as long as nothing stops the job only grows along when another one is rescaled.
    """
    load = owed.loads.get(vertex)
    if load is None:
        return _left
    least, detail = owed.least(load), _detail(owed, load)
    is_late = owed.is_due and load.recovery_s(load.parallelism, 0.0) > owed.within_s and owed.growth_helps

    def policy(proposal: Proposal) -> Proposal:
        if proposal.wanted < proposal.current and not is_late:
            if why := owed.why_large:
                return proposal.limited_to(proposal.current, Reason.AGREEMENT, why)
            return proposal.limited_to(max(proposal.wanted, least), Reason.AGREEMENT, detail)
        grown = proposal.limited_to(max(proposal.wanted, least), Reason.AGREEMENT, detail)
        if grown is proposal and not is_late:
            return proposal
        return replace(grown, outside=is_late or (proposal.outside and proposal.wanted > proposal.current))

    return policy


def _left(proposal: Proposal) -> Proposal:
    return proposal


def _detail(owed: Owed, load: Load) -> str:
    waiting = backlog(load.lag, load.rate, owed.high_s)
    need = load.need(owed.high_s, owed.within_s)
    return (
        f"{amount(need)}/s work off {amount(waiting)} records within {span(owed.within_s)}, "
        f"those of a rescale of up to {span(owed.high_s)} among them"
    )


def forecasted(decision: Decision, owed: Owed | None) -> Decision:
    """
    Add to a decision what becomes of the job by it, in numbers and in words.

    A notice tells of a forecast that breaks what is agreed: no parallelism that is allowed would have kept it.
    """
    if owed is None:
        return decision
    rescales = decision.outcome is Outcome.RESCALE
    forecast = owed.forecast(decision.proposals, rescales=rescales)
    decision = replace(decision, forecast=forecast)
    if rescales or forecast.breaks:
        decision = replace(decision, message=f"{decision.message}; {told(forecast)}")
    return replace(decision, notices=(*decision.notices, _at_risk(forecast))) if forecast.breaks else decision


def told_downtime(downtime: Downtime) -> str:
    """Word how long a rescale is predicted to stop a job, and what that was learnt from."""
    between = f", {span(downtime.low)} to {span(downtime.high)} in 9 of 10 cases"
    return f"{span(downtime.expected)}{between if downtime.low < downtime.high else ''} ({downtime.basis})"


def told(forecast: Forecast) -> str:
    """Word a forecast: how far behind the job will be and for how long, and what is agreed."""
    stopped = f"stopped for up to {span(forecast.downtime.high)}, then " if forecast.rescales else ""
    behind = f"{span(forecast.peak_lag_time_s)} behind{_agreed(forecast.max_lag_time)}"
    return f"{stopped}{behind}, {_recovery(forecast)}{_agreed(forecast.recovery_time)}"


def _recovery(forecast: Forecast) -> str:
    if math.isinf(forecast.recovery_s):
        return "never level again"
    return f"level again within {span(forecast.recovery_s)}"


def _agreed(limit: timedelta | None) -> str:
    return "" if limit is None else f" ({span(limit)} agreed)"


def _at_risk(forecast: Forecast) -> Notice:
    return Notice(
        reason=EventReason.AGREEMENT_AT_RISK,
        type=EventType.WARNING,
        message=told(forecast),
        key=EventReason.AGREEMENT_AT_RISK,
        fields={
            "downtime_s": forecast.downtime.high.total_seconds(),
            "lag_time_s": forecast.peak_lag_time_s,
            "recovery_s": forecast.recovery_s,
            **{
                name: limit.total_seconds()
                for name, limit in (
                    ("max_lag_time_s", forecast.max_lag_time),
                    ("recovery_time_s", forecast.recovery_time),
                )
                if limit is not None
            },
        },
    )
