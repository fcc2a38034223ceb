"""Changes a running job's parallelism through its resource requirements (FLIP-291: adaptive scheduler, Flink 1.18+)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headgate.algorithm.rules import rules_of
from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.details import JobDetails, read_details
from headgate.errors import ConflictError, OvertakenError, RefusedError
from headgate.model.decision import ConfigChanges
from headgate.model.identity import VertexId
from headgate.model.measures import JobStatus
from headgate.model.state import Intent
from headgate.options.deviations import Deviation
from headgate.ports import JobContext

Requirements = Mapping[str, Mapping[str, Mapping[str, int]]]
"""Vertex id -> `{"parallelism": {"lowerBound": .., "upperBound": ..}}`, as Flink writes it."""


class ResourceRequirementsRealizer:
    """
    Asks the scheduler for other upper bounds. Implements `headgate.ports.ScalingRealizer`.

    All vertices go into one request, so that the job restarts once. Flink then runs with what the slots allow.
    """

    def __init__(self, clients: Mapping[str, FlinkClient]) -> None:
        """
        Ask nothing yet.

        Args:
            clients: the clusters by name; whoever made them closes them.
        """
        self._clients = clients

    async def realize_parallelism_overrides(self, ctx: JobContext, overrides: Mapping[VertexId, int], /) -> bool:
        """
        Send the bounds if one of them differs.

        Nothing is sent for a job that does not run, unless the intent takes a rescale back: then that may be why.
        Vertices that it does not have are ignored, and one that has been excluded since keeps what it is asked to have
        now.

        Raises:
            ConflictError: the job runs at what is neither where the intent began nor on the way to its end: somebody
                else has changed it since, and nothing is sent.
            RefusedError: likewise of a rescale that is to be taken back, where the job is asked to have something else.
        """
        takes_back = ctx.intent is not None and ctx.intent.takes_back is not None
        if ctx.status is not JobStatus.RUNNING and not takes_back:
            return False
        client, path = self._clients[ctx.key.cluster], f"/jobs/{ctx.job_id}/resource-requirements"
        present = await client.get(path, read_requirements)
        merged = merge_overrides(upper_bounds(present), overrides, frozenset(ctx.options.vertex_exclude_ids))
        asked = {vertex: merged[vertex] for vertex in overrides}
        wanted = with_upper_bounds(present, asked, lower=None if Deviation.LOWER_BOUNDS in rules_of(ctx.options) else 1)
        if wanted == present:
            return False
        if ctx.intent is not None and takes_back:
            _confirm_asked(ctx.intent, upper_bounds(present))
        elif ctx.intent is not None:
            _confirm(ctx.intent, await client.get(f"/jobs/{ctx.job_id}", read_details))
        await client.put(path, wanted)
        return True

    async def realize_config_overrides(self, ctx: JobContext, changes: ConfigChanges, /) -> bool:
        """Refuse: a running job's configuration cannot change over REST."""
        named = ", ".join(sorted({*changes.overrides, *changes.removals})) or "nothing"
        message = f"{ctx.key}: a running Flink job cannot change its configuration ({named})"
        raise RefusedError(message)


def _confirm(intent: Intent, running: JobDetails) -> None:
    for vertex in running.vertices:
        if vertex.id not in intent.after:
            continue
        before, after = intent.before[vertex.id], intent.after[vertex.id]
        if not min(before, after) <= vertex.parallelism <= max(before, after):
            name = intent.names.get(vertex.id, vertex.id)
            message = f"{name} runs at {vertex.parallelism}, not from {before} to {after}: nothing was sent"
            raise ConflictError(message)


def _confirm_asked(intent: Intent, asked: Mapping[VertexId, int]) -> None:
    """Hold what a job that may not run is asked to have against the rescale: how it ran last is no sign."""
    for vertex, after in intent.after.items():
        before, present = intent.before[vertex], asked.get(vertex, after)
        # in between lies what an earlier rescale of ours asked for, where the latest one was never taken
        if not min(before, after) <= present <= max(before, after):
            name = intent.names.get(vertex, vertex)
            message = f"{name} is asked to have {present} by somebody else, not {before}: nothing was sent"
            raise OvertakenError(message)


def read_requirements(answer: Any) -> Requirements:
    """Read the bounds of all vertices; fields that are not bounds of the parallelism are dropped."""
    return {vertex: _bounds(**bounds["parallelism"]) for vertex, bounds in answer.items()}


def upper_bounds(requirements: Requirements) -> dict[VertexId, int]:
    """Give what each vertex is asked to have."""
    return {VertexId(vertex): bounds["parallelism"]["upperBound"] for vertex, bounds in requirements.items()}


def merge_overrides(
    own: Mapping[VertexId, int], overrides: Mapping[VertexId, int], excluded: frozenset[str]
) -> dict[VertexId, int]:
    """
    Lay the autoscaler's parallelism over what the job has of its own; empty when the autoscaler wants nothing.

    An excluded vertex keeps its own value where it has one. Source: the reference's `applyParallelismOverrides`.
    """
    kept = {vertex: value for vertex, value in own.items() if vertex in excluded}
    return {**own, **overrides, **kept} if overrides else {}


def with_upper_bounds(
    present: Requirements, overrides: Mapping[VertexId, int], lower: int | None = None
) -> Requirements:
    """
    Give the bounds with other upper ones.

    Args:
        present: all vertices.
        overrides: the new upper bounds; a vertex that is not named stays as it is.
        lower: the lower bound of those that are named; None keeps it, unless it would be above the upper one.
    """
    return {
        vertex: _limited(bounds["parallelism"], overrides.get(VertexId(vertex)), lower)
        for vertex, bounds in present.items()
    }


def _limited(parallelism: Mapping[str, int], wanted: int | None, lower: int | None) -> Mapping[str, Mapping[str, int]]:
    now = parallelism["lowerBound"]
    if wanted is None:
        return _bounds(now, parallelism["upperBound"])
    return _bounds(min(now, wanted) if lower is None else lower, wanted)


def _bounds(lowerBound: int, upperBound: int, **_: object) -> Mapping[str, Mapping[str, int]]:  # noqa: N803 -- Flink's names
    return {"parallelism": {"lowerBound": lowerBound, "upperBound": upperBound}}
