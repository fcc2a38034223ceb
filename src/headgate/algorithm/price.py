"""What a rescale costs and what it saves, in subtask-seconds, and whether it is worth it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from headgate.algorithm.history import History
from headgate.algorithm.rules import rules_of
from headgate.model.decision import Decision, Outcome, Proposal
from headgate.model.forecast import Price
from headgate.model.metrics import EvaluatedMetrics
from headgate.model.reasons import Reason
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Deviation
from headgate.options.units import format_duration


def weighed(decision: Decision, evaluated: EvaluatedMetrics, options: AutoscalerOptions, history: History) -> Decision:
    """Price a rescale, and keep the job as it is where that costs more than it saves."""
    price = priced(decision, evaluated, options, history)
    decision = replace(decision, price=price)
    why = not_worth(price, decision.changes.values(), options) if price else None
    if why is None or Deviation.WORTH_RESTART not in rules_of(options):
        return decision
    return replace(decision, outcome=Outcome.KEEP, reason=Reason.NOT_WORTH_RESTART, message=why)


def priced(
    decision: Decision, evaluated: EvaluatedMetrics, options: AutoscalerOptions, history: History
) -> Price | None:
    """
    Give the price of a rescale; None where nobody knows how long it takes.

    All subtasks stand still for the downtime; the subtasks that go are saved for the horizon. Source: Varga, Balassi
    and Kiss 2021: a rescale that costs more than it saves is none to make.
    """
    downtime = downtime_s(evaluated, options, history)
    if downtime is None:
        return None
    less = sum(change.current - change.wanted for change in decision.changes.values())
    return Price(
        downtime_s=downtime,
        cost_s=sum(proposal.current for proposal in decision.proposals) * downtime,
        saved_s=less * options.rescale_horizon.total_seconds(),
        horizon=options.rescale_horizon,
        stops=evaluated.downtime is None or evaluated.downtime.stops,
    )


def downtime_s(evaluated: EvaluatedMetrics, options: AutoscalerOptions, history: History) -> float | None:
    """
    Give how long a rescale stops the job at worst.

    The upper end of what is predicted, no longer than a restart may count as; else the longest restart that is
    remembered. Where there is neither, what `restart.time` says for a job that owes something, and nothing for another
    one. The limit matters: a job that is never rescaled because one rescale took hours would never learn otherwise.
    """
    if evaluated.downtime is not None:
        return min(evaluated.downtime.high, options.restart_time_tracking_limit).total_seconds()
    measured = [record.restart for record in history if record.restart is not None]
    if measured:
        return max(measured).total_seconds()
    return options.restart_time.total_seconds() if options.sla.is_set else None


def not_worth(price: Price, changes: Collection[Proposal], options: AutoscalerOptions) -> str | None:
    """
    Say why a rescale costs more than it saves; None when it does not.

    Growth that has cause is worth any price. Growth that only goes along counts against what is saved where something
    is owed; elsewhere it is worth any price, too.
    """
    grows = [change for change in changes if change.wanted > change.current]
    if any(change.outside for change in grows) or (grows and not options.sla.is_set):
        return None
    return None if price.saved_s >= price.cost_s else told(price)


def told(price: Price) -> str:
    """Word a price, both of its sides."""
    difference = f"{abs(price.saved_s):.0f}"
    saving = f"shrinking saves {difference}" if price.saved_s > 0 else f"growing takes {difference} more"
    event = "a restart" if price.stops else "a delay"
    return (
        f"{event} of {price.downtime_s:.0f} s costs {price.cost_s:.0f} subtask-seconds, "
        f"{saving} within {format_duration(price.horizon)}"
    )
