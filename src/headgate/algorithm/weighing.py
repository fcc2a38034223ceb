"""
Whether a rescale after a change of the load is better made now, or once more is known of it.

Whoever stays pays for the size that is wrong from now on; whoever moves pays for the restart, and for further ones if
the move proves wrong. How long a load goes on is expected from how long it has lasted: what lasts is heavy-tailed.
Moving is right as soon as staying is expected to cost as much. Expected to go on as long again, it has cost as much by
then, and both together are never more than twice what would have been best; expected for twice as long, three times.
Sources: the ski rental problem (Karlin, Manasse, Rudolph and Sleator 1988); the mean residual life of a Pareto
distribution, `lasted / (index - 1)`; indices between 1 and 2 of how long traffic lasts (Willinger, Taqqu, Sherman and
Wilson 1997).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from statistics import NormalDist
from typing import Any

from headgate.algorithm.agreement import told_downtime
from headgate.algorithm.expected_downtime import expected_downtime
from headgate.algorithm.plan import Plan, not_shrinking
from headgate.algorithm.staying import Sizes, cost_so_far
from headgate.algorithm.wording import amount
from headgate.model.arrival import Arrival
from headgate.model.decision import Decision, Outcome, Proposal
from headgate.model.downtime import Downtime
from headgate.model.metrics import EvaluatedMetrics, ScalingMetric, VertexMetrics
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.model.state import JobState
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.declaration import paths

_REVERSED = 20.0
"""Rescales that one costs that has to be taken back: people trust no autoscaler that flaps."""

_REPEATED = 8.0
"""Rescales that one costs that turns out to be only the first of two steps."""

_LONG_S = 10.0
"""
Downtime from which on shrinking costs twice as much as the input that comes in it, and so on: what comes in a long one
waits long, and nobody has to shrink.
"""

_SETTLED = 0.8
"""Share of the metric window after which a load that did not change counts as settled."""

_UNLIKELY = 1e-4
"""
Chance to have to go back below which the word of a settled load is enough; where it is larger, nobody has to shrink.
Such a load is asked thousands of times a day, so that what is only unlikely happens.
"""

_CAPACITY_ERROR = 0.1
"""Standard error of what one sample tells that a vertex can do, as a share of it."""

_LEAST_DOWNTIME_S = 1.0

_FIRST_LOOK = timedelta(minutes=1)
"""How long after its stabilization a job is new: its sources may still be opening, its caches cold."""

_NORMAL = NormalDist()

_THRESHOLDS = (ScalingMetric.SCALE_UP_RATE_THRESHOLD, ScalingMetric.SCALE_DOWN_RATE_THRESHOLD)

_EAGER: Mapping[str, Any] = {"scale-down.interval": timedelta(), "scale-down.max-factor": 1.0}
"""When to shrink is weighed: neither a wait nor a second step makes it surer."""


def surely_needing_less(
    plan: Plan, evaluated: EvaluatedMetrics, options: AutoscalerOptions, state: JobState, running_s: float
) -> Plan:
    """
    Let nothing shrink while the input of a job rises or is more than it can read, nor of one that began moments ago.

    A job that Headgate has rescaled is not new, however often it restarts; where a whole window has to be there, that
    is proof enough. `running_s` is how long the job has been running.
    """
    if evaluated.arrival is None:
        return plan
    if evaluated.arrival.rising:
        return not_shrinking(plan, state, Reason.EVIDENCE_AWAITED, "ever more comes in")
    if evaluated.arrival.saturated:
        return not_shrinking(plan, state, Reason.EVIDENCE_AWAITED, "more comes in than its sources can read")
    new_s = (options.stabilization_interval + min(options.metrics_window, _FIRST_LOOK)).total_seconds()
    if state.history or running_s >= new_s:
        return plan
    began = f"the job began {running_s:.0f} s ago, less than {new_s:.0f} s"
    return not_shrinking(plan, state, Reason.EVIDENCE_AWAITED, began)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighing:
    """Both sides for one vertex, in seconds of its input."""

    staying_s: float
    """What the present size is expected to cost yet: as much as it has cost so far, see `staying`."""
    moving_s: float
    """What the rescale would cost, the chances that it is not the last one included."""
    reversed: float
    """That chance: of having to go back."""
    repeated: float
    """That of having to go on."""
    shrinks: bool

    @property
    def is_time(self) -> bool:
        """Tell whether to move."""
        return self.staying_s >= self.moving_s


def eager(options: AutoscalerOptions) -> AutoscalerOptions:
    """Give the options without what only holds a vertex back from shrinking to its target, unless somebody set that."""
    at = paths(AutoscalerOptions)
    return replace(options, **{at[key]: value for key, value in _EAGER.items() if not options.is_set(key)})


def in_time(decision: Decision, sample: JobSample, evaluated: EvaluatedMetrics, options: AutoscalerOptions) -> Decision:
    """
    Give a wanted rescale as it is if it is time for it; else keep the job until more is known.

    One vertex for which it is time is enough: the others change in the same restart.
    """
    arrival = evaluated.arrival
    if arrival is None:
        return decision
    running_s = (decision.at - sample.running_since).total_seconds()
    downtime = expected_downtime(evaluated, sample, options)
    causes = [proposal for proposal in decision.changes.values() if proposal.outside]
    weighings = [weighed(proposal, evaluated, arrival, downtime, running_s) for proposal in causes]
    if None in weighings:  # what has cause without numbers follows from something else than the load
        return decision
    sides = [weighing for weighing in weighings if weighing]
    settled = is_settled(arrival, options, running_s)
    # who has set a window of so few samples that nobody can tell an error wants to go by them
    if settled and (arrival.error is None or any(side.reversed < _UNLIKELY for side in sides)):
        return decision
    ripe = [side for side in sides if side.is_time and not (settled and side.shrinks)]
    message = f"{decision.message}; {told(arrival, _ripest(ripe or sides))}"
    if evaluated.downtime is None:  # else it is told with what was evaluated
        message += f"; a rescale is expected to stop the job for {told_downtime(downtime)}"
    if ripe:
        return replace(decision, message=message)
    return replace(decision, outcome=Outcome.KEEP, reason=Reason.EVIDENCE_AWAITED, message=message)


def is_settled(arrival: Arrival, options: AutoscalerOptions, running_s: float) -> bool:
    """Tell whether the load is what it has been for about the whole window, at the size that runs."""
    since_s = min(arrival.lasted_s, running_s)
    return not arrival.changed and since_s >= _SETTLED * options.metrics_window.total_seconds()


def weighed(
    proposal: Proposal, evaluated: EvaluatedMetrics, arrival: Arrival, downtime: Downtime, running_s: float
) -> Weighing | None:
    """Weigh the change of one vertex; None where its numbers do not tell. `running_s`: since the job runs as it is."""
    known = evaluated.vertices[proposal.vertex]
    sizes = Sizes.of(proposal, known.metrics)
    if sizes is None:
        return None
    downtime_s = max(downtime.expected.total_seconds(), _LEAST_DOWNTIME_S)
    back, on = chances(proposal, known, _error(arrival, evaluated))
    shrinks = proposal.wanted < proposal.current
    longer = downtime_s / _LONG_S if shrinks else 0.0
    return Weighing(
        staying_s=cost_so_far(sizes, arrival, running_s),
        moving_s=downtime_s * (1 + longer + _REVERSED * back + _REPEATED * on),
        reversed=back,
        repeated=on,
        shrinks=shrinks,
    )


def _error(arrival: Arrival, evaluated: EvaluatedMetrics) -> float:
    """Give the standard error of what is needed, as a share of it: of the load, and of what vertices can do."""
    return math.inf if arrival.error is None else math.hypot(arrival.error, capacity_error(evaluated))


def capacity_error(evaluated: EvaluatedMetrics) -> float:
    """Give the standard error of what vertices can do, as a share of it: the shorter they were watched the larger."""
    return _CAPACITY_ERROR / math.sqrt(max(evaluated.samples, 1))


def chances(proposal: Proposal, known: VertexMetrics, error: float) -> tuple[float, float]:
    """
    Give the probabilities that the rescale has to be taken back, and that another one in the same direction follows.

    Growth is taken back if the present size would have done; that a bit less would do is worth no waiting. Shrinking is
    taken back if the present size was right, or the vertex has to grow again. The load is taken to be normal.
    """
    if math.isinf(error):
        return 1.0, 0.0
    too_slow, too_fast = (known.metrics.get(threshold) for threshold in _THRESHOLDS)
    most = largest_load(proposal.wanted / proposal.current, known, too_slow)
    if proposal.wanted > proposal.current:
        # who cannot grow as far as the load asks for does right to grow as far as possible
        return _below(largest_load(1.0, known, too_slow), error), 1 - _below(most, error) if most > 1 else 0.0
    right = largest_load((proposal.current - 1) / proposal.current, known, known.needed_capacity)
    less = largest_load((proposal.wanted - 1) / proposal.current, known, known.needed_capacity)
    return 1 - _below(min(most, right, largest_load(1.0, known, too_fast)), error), _below(less, error)


def largest_load(size: float, known: VertexMetrics, asked: float | None) -> float:
    """
    Give the load, in shares of the present one, at which a size of the vertex would just do what is asked of it.

    What is asked follows from the load: of one that is twice as large it would be twice as much, but for the catch-up.
    Source: the thresholds and the capacity of FLIP-271, `catch-up + load / utilization`, solved for the load.
    """
    catch_up = known.metrics.get(ScalingMetric.CATCH_UP_DATA_RATE, 0.0)
    asked = (math.inf if asked is None else asked) - catch_up
    capacity = known.metrics[ScalingMetric.TRUE_PROCESSING_RATE] * size - catch_up
    return capacity / asked if asked > 0 else math.inf


def _below(load: float, error: float) -> float:
    """Give the probability that the load is less than so many times what it was measured to be."""
    if error == 0 or math.isinf(load):
        return float(load > 1)
    return _NORMAL.cdf((load - 1) / error)


def _ripest(weighings: Sequence[Weighing]) -> Weighing:
    return max(weighings, key=lambda each: each.staying_s / each.moving_s)


def told(arrival: Arrival, weighing: Weighing) -> str:
    """Word what was weighed. Chances are told where the load's error is known; otherwise the worst is assumed."""
    stay = f"staying at this size is expected to cost {weighing.staying_s:.1f} s of input"
    if arrival.error is not None:
        risks = f"{weighing.reversed:.0%} risk of going back, {weighing.repeated:.0%} of a second step"
        sides = f"{stay}, a rescale {weighing.moving_s:.1f} s ({risks})"
    elif weighing.is_time:
        sides = f"{stay}, more than a rescale at worst ({weighing.moving_s:.0f} s)"
    else:
        sides = f"{stay}; a rescale waits for more samples, at most until that is {weighing.moving_s:.0f} s"
    return f"{told_arrival(arrival)}; {sides}"


def told_arrival(arrival: Arrival) -> str:
    """Word what comes in."""
    lasted = f"{arrival.lasted_s:.0f} s"
    since = f"the load changed {lasted} ago" if arrival.changed else f"the load has not changed for at least {lasted}"
    if arrival.per_s is None:
        return f"{since}: how much comes in is not known yet"
    if arrival.saturated:
        assumed = f"{amount(arrival.per_s)}/s are assumed"
        return f"for {lasted} its sources have read all they can: more comes in, nobody knows how much, {assumed}"
    come = f"{since}: about {amount(arrival.per_s)}/s come in"
    if arrival.error is None:
        return f"{come}, by too few samples to say how surely"
    return f"{come} (within {2 * arrival.error:.0%}{', rising' if arrival.rising else ''})"
