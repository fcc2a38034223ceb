"""
Policies: each limits a proposal and says why. What stands here needs no memory; the order stands in `propose`.

A policy is made by a factory and adds a step to the trail only when it bites. A vertex already outside the user's
bounds is not forced back by them, but never sent further out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

from headgate.algorithm.wording import amount
from headgate.model.decision import Proposal
from headgate.model.metrics import ScalingMetric, VertexMetrics
from headgate.model.reasons import Reason
from headgate.model.topology import Vertex
from headgate.options.autoscaler import AutoscalerOptions

Policy = Callable[[Proposal], Proposal]

LARGEST = 2**31 - 1
"""An engine's parallelism is a 32-bit integer."""


def scaled(parallelism: int, factor: float) -> int:
    """Multiply a parallelism, rounded up, at most `LARGEST`; NaN gives 0 as a cast does in the reference."""
    return 0 if math.isnan(factor) else math.ceil(min(factor * parallelism, LARGEST))


def to_utilization_target(metrics: VertexMetrics, utilization: float) -> Policy:
    """
    Propose the parallelism at which the vertex would run at its utilization target.

    A vertex whose factor is unknown keeps its parallelism. Source: DS2 (OSDI 2018), the optimal parallelism.
    """

    def policy(proposal: Proposal) -> Proposal:
        if metrics.factor is None:
            return proposal
        needed = math.nan if metrics.needed_capacity is None else metrics.needed_capacity
        by_rate = f"{amount(needed)}/s needed to run {utilization:.2f} busy, factor {metrics.factor:.3g}"
        detail = metrics.basis or by_rate
        return proposal.limited_to(scaled(proposal.current, metrics.factor), Reason.UTILIZATION_TARGET, detail)

    return policy


def step_up_within(factor: float) -> Policy:
    """
    Add at most `factor` times the running parallelism.

    Rounding up keeps order, so this equals the reference's cut of the scale factor before it rounds.
    """

    def policy(proposal: Proposal) -> Proposal:
        most = scaled(proposal.current, 1 + factor)
        detail = f"one step adds at most {factor:g} times {proposal.current}"
        return proposal.limited_to(min(proposal.wanted, most), Reason.SCALE_UP_FACTOR, detail)

    return policy


def step_down_within(factor: float) -> Policy:
    """Take away at most the share `factor` of the running parallelism, what is left rounded up."""

    def policy(proposal: Proposal) -> Proposal:
        least = scaled(proposal.current, max(0.0, 1 - factor))
        detail = f"one step removes at most {factor:g} of {proposal.current}"
        return proposal.limited_to(max(proposal.wanted, least), Reason.SCALE_DOWN_FACTOR, detail)

    return policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """
    The least and the largest parallelism that a vertex may get by the user's bounds.

    Raises:
        ValueError: the least is above the largest.
    """

    lower: int
    upper: int

    def __post_init__(self) -> None:
        """Refuse limits that leave nothing."""
        if self.lower > self.upper:
            message = f"the least parallelism {self.lower} is above the largest {self.upper}"
            raise ValueError(message)

    @classmethod
    def of(cls, vertex: Vertex, options: AutoscalerOptions) -> Self:
        """Return the user's bounds, widened to the running parallelism: beyond them, it is not forced back."""
        running = vertex.parallelism
        return cls(lower=min(running, options.min_parallelism), upper=max(running, options.max_parallelism))


def at_least(limits: Limits) -> Policy:
    """Keep to the lower limit."""
    detail = f"no fewer than {limits.lower}, by vertex.min-parallelism"
    return lambda each: each.limited_to(max(each.wanted, limits.lower), Reason.MIN_PARALLELISM, detail)


def at_most(limits: Limits) -> Policy:
    """Keep to the upper limit."""
    detail = f"no more than {limits.upper}, by vertex.max-parallelism"
    return lambda each: each.limited_to(min(each.wanted, limits.upper), Reason.MAX_PARALLELISM, detail)


def within_key_groups(key_groups: int) -> Policy:
    """Keep to the engine's own bound: a subtask without a key group cannot exist."""

    def policy(proposal: Proposal) -> Proposal:
        detail = f"the vertex has {key_groups} key groups"
        return proposal.limited_to(min(proposal.wanted, key_groups), Reason.VERTEX_MAX_PARALLELISM, detail)

    return policy


def within_partitions(partitions: int | None) -> Policy:
    """
    Keep a source to its partitions, further subtasks would idle; unknown ones (None or 0) limit nothing.

    The reference does so in alignment, but neither without alignment nor by a mode of one's own (FLINK-40389).
    """

    def policy(proposal: Proposal) -> Proposal:
        most = partitions or proposal.wanted
        detail = f"the source has {partitions} partitions"
        return proposal.limited_to(min(proposal.wanted, most), Reason.PARTITIONS, detail)

    return policy


def not_shrinking_in_backlog(*, backlog: bool) -> Policy:
    """
    Take nothing away from a job that works off a backlog.

    The reference only ignores such a wish as a cause; it is still carried out when another vertex has one.
    """

    def policy(proposal: Proposal) -> Proposal:
        if not backlog or proposal.wanted >= proposal.current:
            return proposal
        return proposal.limited_to(proposal.current, Reason.BACKLOG, "the job is working off a backlog")

    return policy


def not_shrinking_while_busy(metrics: VertexMetrics, options: AutoscalerOptions, *, hold: bool) -> Policy:
    """
    Take nothing away from a vertex that is busier than its target, whatever is computed to come to it.

    A wrong output ratio gives a target that is too small; the reference shrinks on it (FLINK-38538).
    """
    load = metrics.metrics.get(ScalingMetric.LOAD, 0.0)

    def policy(proposal: Proposal) -> Proposal:
        if not hold or load <= options.utilization_target or proposal.wanted >= proposal.current:
            return proposal
        detail = f"busy {load:.2f} of the time, above its target {options.utilization_target:.2f}"
        return proposal.limited_to(proposal.current, Reason.BUSY, detail)

    return policy


def growing_within(factor: float, reason: Reason) -> Policy:
    """Grow by no more than a factor, 1 or more, that something else sets."""

    def policy(proposal: Proposal) -> Proposal:
        most = scaled(proposal.current, factor)
        return proposal.limited_to(min(proposal.wanted, most), reason, f"{_LIMITING[reason]}, factor {factor:.3g}")

    return policy


_LIMITING = {
    Reason.SKEW: "the hottest subtask is the limit, all together need less",
    Reason.HOT_PARTITION: "one partition holds more than a subtask can read, and no two read one",
    Reason.SATURATED: "the last growth made this sink no faster",
    Reason.DOWNSTREAM_LIMIT: "a vertex further down cannot take more",
    Reason.BATCH_LIMIT: "a batch may take no more rows, raise its limit (such as maxOffsetsPerTrigger)",
    Reason.BATCH_TASKS: "a batch is cut into no more tasks",
}


def is_held(vertex: Vertex, options: AutoscalerOptions) -> bool:
    """Tell whether a vertex is never scaled: it has finished, or is excluded."""
    return vertex.finished or vertex.id in options.vertex_exclude_ids


def not_moving_unknown(proposal: Proposal) -> Proposal:
    """Keep the running parallelism of a vertex of which too little is known to tell what it can do."""
    return proposal.limited_to(proposal.current, Reason.MISSING_METRICS, "what the vertex can do is not known")


def held(*, hold: bool, why: str) -> Policy:
    """Keep the running parallelism of a vertex that is not to be scaled."""

    def policy(proposal: Proposal) -> Proposal:
        return proposal.limited_to(proposal.current, Reason.EXCLUDED, why) if hold else proposal

    return policy


def expecting(metrics: VertexMetrics, exponent: float = 1.0) -> Policy:
    """Note the true rate to be had at the wished parallelism: as much for each subtask as now, or along a curve."""
    true_rate = metrics.metrics.get(ScalingMetric.TRUE_PROCESSING_RATE, math.nan)

    def policy(proposal: Proposal) -> Proposal:
        if not proposal.changes or math.isnan(true_rate):
            return proposal
        bend = (proposal.wanted / proposal.current) ** (exponent - 1)
        return replace(proposal, expected_rate=true_rate / proposal.current * proposal.wanted * bend)

    return policy
