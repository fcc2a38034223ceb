"""
What each vertex should run at, by its own numbers and its own past: an ordered chain of policies, each with its reason.

The order is that of the reference autoscaler's `JobVertexScaler`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce

from headgate.algorithm.agreement import keeping_agreement
from headgate.algorithm.alignment import OwnAlignment, aligned, aligned_by, mode_of, span_of
from headgate.algorithm.bounds import EVERYWHERE, Room, room_of
from headgate.algorithm.delay import shrinking_late
from headgate.algorithm.effectiveness import growing_effectively
from headgate.algorithm.history import Scaling, scalings_of
from headgate.algorithm.obligation import Owed
from headgate.algorithm.policies import (
    Limits,
    Policy,
    at_least,
    at_most,
    expecting,
    growing_within,
    held,
    not_shrinking_in_backlog,
    not_shrinking_while_busy,
    scaled,
    step_down_within,
    step_up_within,
    to_utilization_target,
    within_key_groups,
    within_partitions,
)
from headgate.algorithm.rules import rules_of
from headgate.algorithm.scalability import exponent_of, outlook_of, scaling_along, scaling_as_observed
from headgate.model.decision import Proposal
from headgate.model.metrics import EvaluatedMetrics, VertexMetrics
from headgate.model.state import UNSEEN, JobState
from headgate.model.topology import ShipStrategy, Topology, Vertex
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Deviation

UNKNOWN = VertexMetrics(metrics={}, needed_capacity=None, factor=None, outside=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What the chain knows of one vertex."""

    vertex: Vertex
    keyed: bool
    """Whether an input is hashed."""
    limits: Limits
    metrics: VertexMetrics
    scalings: Sequence[Scaling]
    """Its past rescales, oldest first."""
    backlog: bool
    now: datetime
    align: OwnAlignment | None = None
    """An alignment mode of somebody's own, in place of the built-in ones."""
    room: Room = EVERYWHERE
    """What is left of its parallelism while it is remembered what made the job sick."""
    owed: Owed | None = None
    """What the job owes; None where nothing is agreed."""


def propose(
    topology: Topology,
    evaluated: EvaluatedMetrics,
    options: AutoscalerOptions,
    now: datetime,
    state: JobState = UNSEEN,
    *,
    owed: Owed | None = None,
    align: OwnAlignment | None = None,
) -> tuple[Proposal, ...]:
    """
    Give the parallelism wanted for each vertex, in topological order; one without metrics keeps its own.

    `owed` is what the job owes by its options, `align` takes the place of the built-in alignment modes.
    """

    def proposal(vertex: Vertex, unchanged: Proposal) -> Proposal:
        metrics, delayed = evaluated.vertices.get(vertex.id, UNKNOWN), state.delayed.get(vertex.id)
        if metrics.outside or delayed:
            unchanged = replace(unchanged, outside=metrics.outside, delayed=delayed)
        if delayed is None and _is_content(vertex, metrics.factor, options) and not (owed and owed.asks(vertex.id)):
            return unchanged
        seen = Situation(
            vertex=vertex,
            keyed=any(edge.ship_strategy is ShipStrategy.HASH for edge in topology.inputs[vertex.id]),
            limits=Limits.of(vertex, options),
            metrics=metrics,
            scalings=scalings_of(vertex.id, state.history),
            backlog=evaluated.backlog,
            now=now,
            align=align,
            room=room_of(state.bounds, vertex.id, vertex.parallelism, now),
            owed=owed,
        )
        return chosen(unchanged, seen, options)

    return tuple(map(proposal, topology.vertices, topology.unchanged))


def chosen(proposal: Proposal, seen: Situation, options: AutoscalerOptions) -> Proposal:
    """Return the proposal of one vertex after all policies."""
    return reduce(lambda proposal, policy: policy(proposal), chain(seen, options), proposal)


def _is_content(vertex: Vertex, factor: float | None, options: AutoscalerOptions) -> bool:
    """Tell without asking the policies that none of them would move the vertex, as for most."""
    if factor is None or options.observed_scalability_enabled or vertex.parallelism > vertex.largest:
        return False
    return scaled(vertex.parallelism, factor) == vertex.parallelism


def chain(seen: Situation, options: AutoscalerOptions) -> tuple[Policy, ...]:
    """Give the policies of one vertex in their order."""
    vertex, rules = seen.vertex, rules_of(options)
    bound = vertex.partitions if Deviation.PARTITIONS_BOUND in rules else None
    # Who runs above its partitions goes back to them as any other vertex shrinks; the last word only holds growth.
    last = (within_partitions(bound and max(bound, vertex.parallelism)),)
    holds = (
        held(hold=vertex.finished, why="the vertex has finished"),
        held(hold=vertex.id in options.vertex_exclude_ids, why="excluded by vertex.exclude.ids"),
    )
    if seen.metrics.factor is None:
        # Nothing is known: not even a wish to shrink that waits is touched.
        return (*last, *holds)
    span = span_of(vertex, seen.limits, seen.room)
    growth = outlook_of(vertex.parallelism, seen.metrics, seen.scalings, options)
    return (
        # what the numbers ask for, in view of what growth has brought so far
        to_utilization_target(seen.metrics, options.utilization_target),
        scaling_along(growth, options) if growth else scaling_as_observed(seen.metrics, seen.scalings, options),
        # what is agreed
        *([keeping_agreement(seen.owed, vertex.id)] if seen.owed else []),
        # what growth cannot mend
        *(growing_within(limit, reason) for reason, limit in seen.metrics.limits.items()),
        # not everything in one step
        step_down_within(options.scale_down_max_factor),
        step_up_within(options.scale_up_max_factor),
        # what the user allows, then what the engine can
        at_least(seen.limits),
        at_most(seen.limits),
        within_key_groups(vertex.max_parallelism),
        # what is remembered to make the job sick
        seen.room.holding,
        # equal shares, none of them empty
        aligned_by(seen.align, vertex, span, options.alignment_mode)
        if seen.align
        else aligned(vertex, span, mode_of(options), keyed=seen.keyed),
        within_partitions(bound),
        # who must not shrink now, or not move at all
        not_shrinking_while_busy(seen.metrics, options, hold=Deviation.BUSY_KEEPS in rules),
        not_shrinking_in_backlog(backlog=seen.backlog and Deviation.BACKLOG_KEEPS in rules),
        *holds,
        # what is to be expected of it, then whether it is time
        expecting(seen.metrics, exponent_of(growth)),
        growing_effectively(seen.metrics, seen.scalings, options),
        shrinking_late(options.scale_down_interval, seen.now),
        # safety comes last, so that nothing above can undo it
        *last,
        *holds,
    )
