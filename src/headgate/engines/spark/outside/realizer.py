"""Changes applications from outside, by their clusters' workers. Implements `headgate.ports.ScalingRealizer`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headgate.engines.spark.outside.cluster import SparkCluster
from headgate.engines.spark.outside.lever import WorkersLever
from headgate.engines.spark.realizer import ExecutorsRealizer
from headgate.errors import NotFoundError, RefusedError
from headgate.model.decision import ConfigChanges
from headgate.model.identity import VertexId
from headgate.ports import JobContext, ScalingRealizer


class SparkScalingRealizer:
    """Makes as many workers as it takes to run so many tasks at once; what fits on none is refused."""

    def __init__(self, clusters: Sequence[SparkCluster], others: ScalingRealizer | None = None) -> None:
        """
        Ask nothing yet.

        Args:
            clusters: whoever made them closes them.
            others: changes the jobs of all other clusters; None where there are none.
        """
        self._clusters = {cluster.options.name: cluster for cluster in clusters}
        self._others = others

    async def realize_parallelism_overrides(self, ctx: JobContext, overrides: Mapping[VertexId, int], /) -> bool:
        """Ask for the workers; the contract is the port's."""
        return await self._of(ctx).realize_parallelism_overrides(ctx, overrides)

    async def realize_config_overrides(self, ctx: JobContext, changes: ConfigChanges, /) -> bool:
        """
        Refuse: nobody can start a query with other settings from outside.

        Raises:
            RefusedError: always, of a Spark application.
        """
        if self._others is not None and ctx.key.cluster not in self._clusters:
            return await self._others.realize_config_overrides(ctx, changes)
        message = f"{ctx.key}: its configuration cannot be changed from outside. Hint: call headgate.attach in it"
        raise RefusedError(message)

    def _of(self, ctx: JobContext) -> ScalingRealizer:
        cluster = self._clusters.get(ctx.key.cluster)
        if cluster is not None:
            return ExecutorsRealizer(WorkersLever(cluster, ctx))
        if self._others is not None:
            return self._others
        message = f"{ctx.key.cluster} is no Spark cluster that Headgate knows"
        raise NotFoundError(message)
