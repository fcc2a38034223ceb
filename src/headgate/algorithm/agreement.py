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
from headgate.model.decision import Decision, Notice, Proposal
from headgate.model.downtime import Downtime
from headgate.model.events import EventReason, EventType
from headgate.model.forecast import Forecast
from headgate.model.identity import VertexId
from headgate.model.reasons import Reason


def recovering_in_time(owed: Owed, vertex: VertexId) -> Policy:
    """
    Propose no less than what recovers in time.

    A vertex that does not recover in time as it runs is a cause for a rescale, if it recovers sooner by that.
    One that recovers as long as nothing stops the job only grows along when another one is rescaled.
    """
    load = owed.loads.get(vertex)
    if load is None:
        return _left
    least, detail = owed.least(load), _detail(owed, load)
    is_late = owed.is_due and owed.is_late(load) and owed.growth_helps(load)

    def policy(proposal: Proposal) -> Proposal:
        if proposal.wanted < proposal.current and not is_late:
            return proposal
        grown = proposal.limited_to(max(proposal.wanted, least), Reason.AGREEMENT, detail)
        if grown is proposal and not is_late:
            return proposal
        return replace(grown, outside=is_late or (proposal.outside and proposal.wanted > proposal.current))

    return policy


def not_breaking_agreement(owed: Owed, vertex: VertexId) -> Policy:
    """Shrink no further than what recovers in time, and not at all where the downtime would break what is agreed."""
    load = owed.loads.get(vertex)
    if load is None:
        return _left
    least, detail = owed.least(load), _detail(owed, load)

    def policy(proposal: Proposal) -> Proposal:
        if proposal.wanted >= proposal.current:
            return proposal
        if why := owed.why_large:
            return proposal.limited_to(proposal.current, Reason.AGREEMENT, why)
        return proposal.limited_to(max(proposal.wanted, min(least, proposal.current)), Reason.AGREEMENT, detail)

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


def forecasted(decision: Decision, owed: Owed) -> Decision:
    """Add to a decision what becomes of the job by it as it stands: a rescale that is only advised changes nothing."""
    if not decision.proposals:
        return replace(decision, forecast=None)
    return replace(decision, forecast=owed.forecast(decision.proposals, rescales=decision.is_made))


def at_risk(forecast: Forecast) -> Notice:
    """Give the notice of a forecast that breaks what is agreed: nothing that is allowed, or was made, keeps it."""
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


def told_downtime(downtime: Downtime) -> str:
    """Word how long a rescale is predicted to stop a job, and what that was learnt from."""
    between = f", {span(downtime.low)} to {span(downtime.high)} in 9 of 10 cases"
    return f"{span(downtime.expected)}{between if downtime.low < downtime.high else ''} ({downtime.basis})"


def told(forecast: Forecast) -> str:
    """Word a forecast: how far behind the job will be and for how long, and what is agreed."""
    stopped = f"stopped for up to {span(forecast.downtime.high)}, then " if forecast.rescales else ""
    behind = f"{_least(forecast)}{span(forecast.peak_lag_time_s)} behind{_agreed(forecast.max_lag_time)}"
    unknown = "" if forecast.lag_known else "lag unknown, "
    return f"{unknown}{stopped}{behind}, {_recovery(forecast)}{_agreed(forecast.recovery_time)}"


def _recovery(forecast: Forecast) -> str:
    if math.isinf(forecast.recovery_s):
        return "never level again"
    within = "within" if forecast.lag_known else "after"
    return f"level again {within} {_least(forecast)}{span(forecast.recovery_s)}"


def _least(forecast: Forecast) -> str:
    return "" if forecast.lag_known else "at least "


def _agreed(limit: timedelta | None) -> str:
    return "" if limit is None else f" ({span(limit)} agreed)"
