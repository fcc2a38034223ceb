"""
What becomes of a job by a decision, and at which price, reckoned anew for what the decision has become.

After it was first decided a plugin, the workers or the job's engine may have changed it, or nothing came of it.
"""

from __future__ import annotations

from dataclasses import replace

from headgate.algorithm.agreement import forecasted
from headgate.algorithm.history import aged
from headgate.algorithm.obligation import owed_by
from headgate.algorithm.price import priced
from headgate.model.decision import Decision
from headgate.model.metrics import EvaluatedMetrics
from headgate.model.reasons import Reason
from headgate.model.state import JobState
from headgate.model.topology import Topology
from headgate.options.autoscaler import AutoscalerOptions


def reckoned(decision: Decision, topology: Topology, options: AutoscalerOptions, state: JobState) -> Decision:
    """
    Give a decision with its forecast, where anything is owed, and with the price of the rescale that it is.

    Args:
        decision: as it stands.
        topology: of what was decided on.
        options: of the job.
        state: of the job when it was decided.
    """
    evaluated = decision.evaluated
    if evaluated is None:
        return decision
    state = aged(state, decision.at, options)
    owed = owed_by(topology, evaluated, options, decision.at, state)
    return _priced(forecasted(decision, owed) if owed else decision, evaluated, options, state)


def _priced(decision: Decision, evaluated: EvaluatedMetrics, options: AutoscalerOptions, state: JobState) -> Decision:
    """Renew a price; that of a rescale for which it was too high stays, and tells why there is none."""
    if decision.price is None or decision.reason is Reason.NOT_WORTH_RESTART:
        return decision
    price = priced(decision, evaluated, options, state.history) if decision.changes else None
    return replace(decision, price=price)
