"""
What each vertex should run at, by its own numbers and its own past: a wish, and the rules that it is held to.

Both are chains of policies, each with its reason. A wish of somebody else, such as a decision plugin, is held to the
very same rules. The order is that of the reference autoscaler's `JobVertexScaler`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce

from headgate.algorithm.agreement import not_breaking_agreement, recovering_in_time
from headgate.algorithm.alignment import OwnAlignment, aligned, aligned_by, mode_of, span_of
from headgate.algorithm.bounds import EVERYWHERE, Room, common, room_of
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
    not_moving_unknown,
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
from headgate.algorithm.scalability import Outlook, exponent_of, outlook_of, scaling_along, scaling_as_observed
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
    growth: Outlook | None = None
    """How its rate grows; None where no curve is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSituation:
    """What is known of a job when its vertices are proposed for."""

    topology: Topology
    evaluated: EvaluatedMetrics
    options: AutoscalerOptions
    now: datetime
    state: JobState = UNSEEN
    owed: Owed | None = None
    """What the job owes by its options; None where nothing is agreed."""
    align: OwnAlignment | None = None

    def seen(self, vertex: Vertex, room: Room) -> Situation:
        """Return what the chain knows of one vertex that has so much room."""
        metrics = self.evaluated.vertices.get(vertex.id, UNKNOWN)
        scalings = scalings_of(vertex.id, self.state.history)
        return Situation(
            vertex=vertex,
            keyed=any(edge.ship_strategy is ShipStrategy.HASH for edge in self.topology.inputs[vertex.id]),
            limits=Limits.of(vertex, self.options),
            metrics=metrics,
            scalings=scalings,
            backlog=self.evaluated.backlog,
            now=self.now,
            align=self.align,
            room=room,
            owed=self.owed,
            growth=outlook_of(vertex.parallelism, metrics, scalings, self.options),
        )

    def room_of(self, vertex: Vertex) -> Room:
        """Return what remembered parallelism leaves to a vertex."""
        return room_of(self.state.bounds, vertex.id, vertex.parallelism, self.now)


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
    case = JobSituation(
        topology=topology, evaluated=evaluated, options=options, now=now, state=state, owed=owed, align=align
    )
    return proposed(case)


def proposed(case: JobSituation) -> tuple[Proposal, ...]:
    """Give the parallelism wanted for each vertex by its numbers, in topological order."""
    vertices = zip(case.topology.vertices, case.topology.unchanged, strict=True)
    return tuple(_proposed(case, vertex, unchanged) for vertex, unchanged in vertices)


def ruled(case: JobSituation, wish: Proposal) -> Proposal:
    """
    Hold somebody else's wish for a vertex, the last step of its trail, to the rules.

    A wish for less than was wanted before is a limit: alignment does not exceed it. To change nothing breaks no rule.
    """
    if not wish.changes:
        return wish
    vertex, asked = case.topology.by_id[wish.vertex], wish.steps[-1]
    room = case.room_of(vertex)
    if asked.after < asked.before:
        room = common((room, Room(most=max(asked.after, wish.current))))
    return applied(rules(case.seen(vertex, room), case.options), wish)


def _proposed(case: JobSituation, vertex: Vertex, unchanged: Proposal) -> Proposal:
    metrics, delayed = case.evaluated.vertices.get(vertex.id, UNKNOWN), case.state.delayed.get(vertex.id)
    if metrics.outside or delayed:
        unchanged = replace(unchanged, outside=metrics.outside, delayed=delayed)
    asks = case.owed is not None and case.owed.asks(vertex.id)
    if delayed is None and _is_content(vertex, metrics.factor, case.options) and not asks:
        return unchanged
    seen = case.seen(vertex, case.room_of(vertex))
    return applied(chain(seen, case.options), unchanged)


def applied(policies: Sequence[Policy], proposal: Proposal) -> Proposal:
    """Return a proposal after one policy after another."""
    return reduce(lambda proposal, policy: policy(proposal), policies, proposal)


def _is_content(vertex: Vertex, factor: float | None, options: AutoscalerOptions) -> bool:
    """Tell without asking the policies that none of them would move the vertex, as for most."""
    if factor is None or options.observed_scalability_enabled or vertex.parallelism > vertex.largest:
        return False
    return scaled(vertex.parallelism, factor) == vertex.parallelism


def chain(seen: Situation, options: AutoscalerOptions) -> tuple[Policy, ...]:
    """Give the policies of one vertex in their order: what it wishes, then the rules."""
    return (*by_numbers(seen, options), *rules(seen, options))


def by_numbers(seen: Situation, options: AutoscalerOptions) -> tuple[Policy, ...]:
    """Return what the numbers ask for, in view of what growth has brought so far, and what is agreed."""
    if seen.metrics.factor is None:
        return ()
    growth = seen.growth
    return (
        to_utilization_target(seen.metrics, options.utilization_target),
        scaling_along(growth, options) if growth else scaling_as_observed(seen.metrics, seen.scalings, options),
        *([recovering_in_time(seen.owed, seen.vertex.id)] if seen.owed else []),
    )


def rules(seen: Situation, options: AutoscalerOptions) -> tuple[Policy, ...]:
    """Return what a wish for one vertex is held to, wherever it comes from."""
    vertex, deviations = seen.vertex, rules_of(options)
    bound = vertex.partitions if Deviation.PARTITIONS_BOUND in deviations else None
    # Who runs above its partitions goes back to them as any other vertex shrinks; the last word only holds growth.
    last = (within_partitions(bound and max(bound, vertex.parallelism)),)
    holds = (
        held(hold=vertex.finished, why="the vertex has finished"),
        held(hold=vertex.id in options.vertex_exclude_ids, why="excluded by vertex.exclude.ids"),
    )
    if seen.metrics.factor is None:
        # Nothing is known: not even a wish to shrink that waits is touched.
        return (not_moving_unknown, *last, *holds)
    span = span_of(vertex, seen.limits, seen.room)
    return (
        # what is agreed
        *([not_breaking_agreement(seen.owed, vertex.id)] if seen.owed else []),
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
        not_shrinking_while_busy(seen.metrics, options, hold=Deviation.BUSY_KEEPS in deviations),
        not_shrinking_in_backlog(backlog=seen.backlog and Deviation.BACKLOG_KEEPS in deviations),
        *holds,
        # what is to be expected of it, then whether it is time
        expecting(seen.metrics, exponent_of(seen.growth)),
        growing_effectively(seen.metrics, seen.scalings, options),
        shrinking_late(options.scale_down_interval, seen.now),
        # safety comes last, so that nothing above can undo it
        *last,
        *holds,
    )
