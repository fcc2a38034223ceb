"""Making decisions real."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from headgate.model.decision import ConfigChanges
from headgate.model.identity import VertexId
from headgate.ports.jobs import JobContext


class ScalingRealizer(Protocol):
    """Makes a decision real."""

    async def realize_parallelism_overrides(self, ctx: JobContext, overrides: Mapping[VertexId, int], /) -> bool:
        """
        Ask the engine for these parallelisms; vertices not named keep theirs.

        Idempotent, and called again when no answer came or the target was not reached: it sends nothing when the engine
        was already asked for the same. It never waits for the change to happen.

        Returns:
            Whether something was sent.

        Raises:
            RefusedError: the engine will not do it (wrong scheduler, above the maximum).
            NotFoundError: the job is gone.
            TransientError: no usable answer; it is not known whether the change was accepted.
        """

    async def realize_config_overrides(self, ctx: JobContext, changes: ConfigChanges, /) -> bool:
        """
        Change the job's configuration, if the engine can.

        Raises:
            RefusedError: this realizer cannot.
        """
