"""Using whatever resources there are, and changing how many there are (FLIP-159)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from headgate.model.identity import VertexId
from headgate.model.topology import Topology
from headgate.ports.jobs import JobContext


@dataclass(frozen=True, slots=True, kw_only=True)
class AvailableResources:
    """What one reactive job may use at this moment."""

    slots: int
    """Its share of the cluster's slots, those that it uses now included."""
    total: int
    """Slots of the whole cluster."""
    workers: int
    """TaskManagers that are there."""


class ScalingPolicy(Protocol):
    """Decides the parallelism of a reactive job; selected by `reactive.policy`. It may ask the outside world."""

    def decide(
        self, ctx: JobContext, resources: AvailableResources, topology: Topology, configured: Mapping[VertexId, int], /
    ) -> Mapping[VertexId, int]:
        """
        Give the parallelism of each vertex; one that is not named keeps its own.

        What it gives is held to each vertex's own bounds and to the slots again.

        Args:
            ctx: the job.
            resources: what there is.
            topology: the graph as it runs.
            configured: the parallelism with which the job was submitted.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """How many workers there are."""

    wanted: int
    """How many were asked for last."""
    ready: int
    """How many processes there are; whether the engine counts them is the engine's to tell."""
    names: tuple[str, ...] = field(default=())
    """Of those that are there, where they have names."""


class ResourceProvider(Protocol):
    """Adds and removes the workers of one cluster; chosen by the cluster's `workers.provider`."""

    async def workers(self) -> Workers:
        """
        Count them.

        Raises:
            TransientError: nobody knows now.
            PermanentError: nobody will know until the operator has mended something.
        """

    async def request(self, count: int, /) -> bool:
        """
        Ask for so many; idempotent, and called again in each cycle: a worker that died is replaced by that.

        It never waits until they are there.

        Returns:
            Whether something was asked for that had not been.

        Raises:
            RefusedError: so many cannot be had.
            TransientError: no usable answer; it is not known whether it was accepted.
        """

    async def reconfigure(self, settings: Mapping[str, str], /) -> bool:
        """
        Restart the workers with other settings, the engine's own keys, such as those of their memory; idempotent.

        Returns:
            Whether something was changed.

        Raises:
            RefusedError: this provider cannot.
            TransientError: no usable answer; it is not known whether it was accepted.
        """

    async def close(self) -> None:
        """Let go of connections. The workers stay."""
