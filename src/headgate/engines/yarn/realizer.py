"""Changes the jobs of Flink applications that come and go. Implements `headgate.ports.ScalingRealizer`."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.engines.yarn.applications import Applications
from headgate.model.decision import ConfigChanges
from headgate.model.identity import VertexId
from headgate.ports import JobContext, ScalingRealizer


class YarnScalingRealizer:
    """Hands every wish to the realizer of the job's application; one that is over is not found."""

    def __init__(self, applications: Applications, others: ScalingRealizer | None = None) -> None:
        """
        Look there at each call.

        Args:
            applications: of one YARN cluster.
            others: changes the jobs of all other clusters; None where there are none.
        """
        self._applications = applications
        self._others = others

    async def realize_parallelism_overrides(self, ctx: JobContext, overrides: Mapping[VertexId, int], /) -> bool:
        """Ask for these parallelisms; the contract is the port's."""
        return await self._of(ctx).realize_parallelism_overrides(ctx, overrides)

    async def realize_config_overrides(self, ctx: JobContext, changes: ConfigChanges, /) -> bool:
        """Change the configuration, if the application's realizer can."""
        return await self._of(ctx).realize_config_overrides(ctx, changes)

    def _of(self, ctx: JobContext) -> ScalingRealizer:
        if self._others is not None and not self._applications.owns(ctx.key.cluster):
            return self._others
        return self._applications.find(ctx.key.cluster).realizer
