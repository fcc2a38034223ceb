"""Changes a running job's parallelism through its resource requirements (FLIP-291: adaptive scheduler, Flink 1.18+)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headgate.engines.flink.client import FlinkClient
from headgate.errors import RefusedError
from headgate.model.decision import ConfigChanges
from headgate.model.identity import VertexId
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
        """Send the bounds if one of them differs; vertices that the job does not have are ignored."""
        client, path = self._clients[ctx.key.cluster], f"/jobs/{ctx.job_id}/resource-requirements"
        present = await client.get(path, read_requirements)
        wanted = with_upper_bounds(present, overrides)
        if wanted == present:
            return False
        await client.put(path, wanted)
        return True

    async def realize_config_overrides(self, ctx: JobContext, changes: ConfigChanges, /) -> bool:
        """Refuse: a running job's configuration cannot change over REST."""
        named = ", ".join(sorted({*changes.overrides, *changes.removals})) or "nothing"
        message = f"{ctx.key}: a running Flink job cannot change its configuration ({named})"
        raise RefusedError(message)


def read_requirements(answer: Any) -> Requirements:
    """Read the bounds of all vertices; fields that are not bounds of the parallelism are dropped."""
    return {vertex: _bounds(**bounds["parallelism"]) for vertex, bounds in answer.items()}


def with_upper_bounds(present: Requirements, overrides: Mapping[VertexId, int]) -> Requirements:
    """Give the bounds with other upper ones; a lower bound above the new upper one comes down with it."""
    return {
        vertex: _limited(bounds["parallelism"], overrides.get(VertexId(vertex))) for vertex, bounds in present.items()
    }


def _limited(parallelism: Mapping[str, int], wanted: int | None) -> Mapping[str, Mapping[str, int]]:
    lower, upper = parallelism["lowerBound"], parallelism["upperBound"]
    if wanted is not None and wanted != upper:
        lower, upper = min(lower, wanted), wanted
    return _bounds(lower, upper)


def _bounds(lowerBound: int, upperBound: int, **_: object) -> Mapping[str, Mapping[str, int]]:  # noqa: N803 -- Flink's names
    return {"parallelism": {"lowerBound": lowerBound, "upperBound": upperBound}}
