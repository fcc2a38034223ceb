"""
How many slots and TaskManagers a change needs, and whether the job's quota allows them.

Whether the cluster has room for them is asked elsewhere; here stands only the question.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from headgate.algorithm.wording import memory_size
from headgate.model.decision import Notice, Proposal
from headgate.model.events import EventReason, EventType
from headgate.model.identity import VertexId
from headgate.model.metrics import EvaluatedMetrics, JobMetric, JobValue
from headgate.model.samples import EngineSettings
from headgate.model.topology import Topology
from headgate.options.autoscaler import AutoscalerOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescale:
    """The same graph before and after a change."""

    before: Topology
    after: Topology

    @classmethod
    def of(cls, topology: Topology, proposals: Iterable[Proposal]) -> Self:
        """Put the wanted parallelism into the running graph."""
        wanted = {proposal.vertex: proposal.wanted for proposal in proposals}
        return cls(before=topology, after=topology.with_parallelism(wanted))

    @property
    def changing(self) -> Rescale:
        """Only the vertices that change; edges are left out."""
        kept = {
            vertex
            for vertex, parallelism in self.before.parallelism.items()
            if self.after.parallelism[vertex] != parallelism
        }
        return Rescale(before=_only(self.before, kept), after=_only(self.after, kept))


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomQuestion:
    """What is asked of a cluster: whether it can go from so many TaskManagers to so many."""

    task_managers_now: int
    task_managers_after: int
    cpus_each: float
    memory_bytes_each: int


def slots_after_rescale(parallelism: Mapping[VertexId, int], new: Mapping[VertexId, int], slots_used: int) -> int:
    """
    Estimate the slots that a job needs after a change.

    A job that uses as many slots as its largest vertex has subtasks is taken to share them among all vertices, any
    other one to share none.

    Args:
        parallelism: of every vertex now.
        new: of the vertices that change.
        slots_used: now; 0 when unknown, which means no sharing.
    """
    wanted = {**parallelism, **new}.values()
    shared = slots_used == max(parallelism.values(), default=0)
    return max(wanted, default=0) if shared else sum(wanted)


def task_managers(slots: int, per_task_manager: int) -> int:
    """Give the TaskManagers that hold so many slots, the last one perhaps in part."""
    return -(-slots // per_task_manager)


def slots_used(evaluated: EvaluatedMetrics) -> int | None:
    """Give the slots that the job uses now; None when unknown."""
    used = evaluated.job.get(JobMetric.NUM_TASK_SLOTS_USED, JobValue()).current
    return None if used is None or math.isnan(used) else int(used)


def task_managers_across(rescale: Rescale, slots: int, per_task_manager: int) -> tuple[int, int]:
    """Give the TaskManagers before and after a change, by the estimate of slots; `slots` are used now."""
    after = slots_after_rescale(rescale.before.parallelism, rescale.after.parallelism, slots)
    return task_managers(slots, per_task_manager), task_managers(after, per_task_manager)


def room_question(rescale: Rescale, evaluated: EvaluatedMetrics, settings: EngineSettings) -> RoomQuestion | None:
    """
    Give what to ask the cluster before a change; None when slots, CPUs or memory are unknown.

    Args:
        rescale: the change.
        evaluated: tells the slots in use.
        settings: with the memory that TaskManagers will have.
    """
    slots, cpus, memory = slots_used(evaluated), settings.task_manager_cpus, settings.task_manager_memory_bytes
    if slots is None or cpus is None or memory is None:
        return None
    now, after = task_managers_across(rescale, slots, settings.slots_per_task_manager)
    return RoomQuestion(task_managers_now=now, task_managers_after=after, cpus_each=cpus, memory_bytes_each=memory)


def quota_reached(
    rescale: Rescale, settings: EngineSettings, options: AutoscalerOptions, *, true_total: bool
) -> Notice | None:
    """
    Tell that a change would exceed the job's quota; None when it may be made.

    Only a change that needs more TaskManagers is refused. Nothing is refused for what is unknown: slot sharing groups,
    a TaskManager's CPUs or its memory.

    Args:
        rescale: the change.
        settings: with the memory that TaskManagers will have.
        options: the quota.
        true_total: True counts every vertex and every TaskManager begun. False is the reference's rule: only the
            vertices that change, and only full TaskManagers, so that the real total may exceed the quota.
    """
    counted = rescale if true_total else rescale.changing
    before, after = _slots_by_groups(counted.before), _slots_by_groups(counted.after)
    if before is None or after is None:
        return None
    per = settings.slots_per_task_manager
    now, then = (task_managers(before, per), task_managers(after, per)) if true_total else (before // per, after // per)
    excess = _excess(then, settings, options)
    return _notice(then, excess) if then > now and excess else None


def _slots_by_groups(topology: Topology) -> int | None:
    """Give the slots that a graph needs: each group as many as its largest vertex; None when a group is unknown."""
    most: dict[str, int] = {}
    for vertex in topology.vertices:
        if vertex.slot_sharing_group is None:
            return None
        most[vertex.slot_sharing_group] = max(most.get(vertex.slot_sharing_group, 0), vertex.parallelism)
    return sum(most.values())


def _excess(count: int, settings: EngineSettings, options: AutoscalerOptions) -> str | None:
    """Word what of the quota so many TaskManagers would exceed."""
    cpus, memory = settings.task_manager_cpus, settings.task_manager_memory_bytes
    if cpus is not None and options.quota_cpu is not None and count * cpus > options.quota_cpu:
        return f"{count * cpus:g} CPUs, quota.cpu is {options.quota_cpu:g}"
    if memory is not None and options.quota_memory is not None and count * memory > options.quota_memory:
        return f"{memory_size(count * memory)} of memory, quota.memory is {memory_size(options.quota_memory)}"
    return None


def _notice(count: int, excess: str) -> Notice:
    return Notice(
        reason=EventReason.RESOURCE_QUOTA_REACHED,
        type=EventType.WARNING,
        message=f"{count} TaskManagers would take {excess}: nothing is scaled",
        key=EventReason.RESOURCE_QUOTA_REACHED,
    )


def _only(topology: Topology, kept: set[VertexId]) -> Topology:
    return Topology(vertices=tuple(vertex for vertex in topology.vertices if vertex.id in kept))
