"""
From one job's evaluated metrics to a decision, step by step and with its reasons; nothing is done here.

Whether a wanted rescale is carried out is the control loop's business: `Decision.acts` is always False here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import reduce

from headgate.algorithm.policies import (
    Policy,
    at_least,
    at_most,
    held,
    not_shrinking_in_backlog,
    step_down_within,
    step_up_within,
    to_utilization_target,
    within_key_groups,
    within_partitions,
)
from headgate.algorithm.verdict import verdict
from headgate.model.decision import Decision, Outcome, Proposal
from headgate.model.identity import JobKey, VertexId
from headgate.model.metrics import EvaluatedMetrics, NotReady, VertexMetrics
from headgate.model.samples import JobSample
from headgate.model.topology import Topology, Vertex
from headgate.options.autoscaler import AutoscalerOptions

UNKNOWN = VertexMetrics(metrics={}, needed_capacity=None, factor=None, outside=False)


def decide(
    sample: JobSample, evaluated: EvaluatedMetrics | NotReady, options: AutoscalerOptions, now: datetime
) -> Decision:
    """Decide for one job: the same arguments give the same decision, id included."""
    if isinstance(evaluated, NotReady):
        return not_ready(sample.job, evaluated, now)
    proposals = propose(sample.topology, evaluated, options)
    outcome, reason, message = verdict(proposals, evaluated, options)
    return Decision(
        id=decision_id(sample.job, now, {proposal.vertex: proposal.wanted for proposal in proposals}),
        job=sample.job,
        at=now,
        outcome=outcome,
        reason=reason,
        message=message,
        fingerprint=sample.topology.fingerprint,
        proposals=proposals,
        evaluated=evaluated,
    )


def not_ready(job: JobKey, why: NotReady, now: datetime) -> Decision:
    """Decide nothing, for a reason."""
    return Decision(
        id=decision_id(job, now, {}),
        job=job,
        at=now,
        outcome=Outcome.NOT_READY,
        reason=why.reason,
        message=why.message,
    )


def decision_id(job: JobKey, at: datetime, targets: Mapping[VertexId, int]) -> str:
    """Give a short text that is the same wherever the same decision is computed."""
    wanted = sorted(f"{vertex}={parallelism}" for vertex, parallelism in targets.items())
    text = "\n".join([str(job), at.astimezone(UTC).isoformat(), *wanted])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def propose(topology: Topology, evaluated: EvaluatedMetrics, options: AutoscalerOptions) -> tuple[Proposal, ...]:
    """Give the parallelism wanted for each vertex, in topological order; one without metrics keeps its own."""
    return tuple(_proposal(vertex, evaluated, options) for vertex in topology.vertices)


def _proposal(vertex: Vertex, evaluated: EvaluatedMetrics, options: AutoscalerOptions) -> Proposal:
    metrics = evaluated.vertices.get(vertex.id, UNKNOWN)
    running = Proposal(
        vertex=vertex.id,
        name=vertex.name,
        current=vertex.parallelism,
        wanted=vertex.parallelism,
        outside=metrics.outside,
    )
    policies: tuple[Policy, ...] = (
        # what the numbers ask for; a correction by observed scalability belongs right behind it
        to_utilization_target(metrics, options.utilization_target),
        # not everything in one step
        step_down_within(options.scale_down_max_factor),
        step_up_within(options.scale_up_max_factor),
        # what the user allows, then what the engine can
        at_least(options.min_parallelism),
        at_most(options.max_parallelism),
        within_key_groups(vertex.max_parallelism),
        # alignment to key groups and partitions, effectiveness and the scale-down delay belong here, in this order
        # safety rules come last, so that nothing above can undo them
        not_shrinking_in_backlog(backlog=evaluated.backlog),
        within_partitions(vertex.partitions),
        held(hold=vertex.finished, why="the vertex has finished"),
        held(hold=vertex.id in options.vertex_exclude_ids, why="excluded by vertex.exclude.ids"),
    )
    return reduce(lambda proposal, policy: policy(proposal), policies, running)
