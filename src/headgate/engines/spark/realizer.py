"""Changes an application from inside: its executors, and the settings of queries that it can start again."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.engines.spark.attached.restarts import QueryRestarts
from headgate.engines.spark.levers import ExecutorLever
from headgate.errors import RefusedError
from headgate.model.decision import ConfigChanges
from headgate.model.identity import VertexId
from headgate.ports import JobContext


class ExecutorsRealizer:
    """A `ports.ScalingRealizer` whose lever are executors."""

    def __init__(self, lever: ExecutorLever, restarts: QueryRestarts | None = None) -> None:
        """
        Ask nothing yet.

        Args:
            lever: adds and removes executors.
            restarts: starts queries with other settings; None refuses changes of the configuration.
        """
        self._lever = lever
        self._restarts = restarts

    async def realize_parallelism_overrides(self, ctx: JobContext, overrides: Mapping[VertexId, int], /) -> bool:
        """
        Ask for as many executors as it takes to run so many tasks at once.

        All queries share the executors: their vertices have one parallelism.

        Raises:
            RefusedError: the values differ, or so many executors cannot be had.
        """
        if not overrides:
            return False
        values = set(overrides.values())
        if len(values) > 1:
            message = f"{ctx.key}: vertices that share executors cannot run at {sorted(values)} each"
            raise RefusedError(message)
        executors = await self._lever.executors()
        return await self._lever.request(executors.count_for(max(values)))

    async def realize_config_overrides(self, ctx: JobContext, changes: ConfigChanges, /) -> bool:
        """
        Restart the queries whose settings change, each from its checkpoint.

        Raises:
            RefusedError: a key is none of a query's, or nobody said how to start that query.
        """
        if self._restarts is None:
            named = ", ".join(sorted({*changes.overrides, *changes.removals})) or "nothing"
            message = f"{ctx.key}: no query can be started anew with other settings ({named})"
            raise RefusedError(message)
        return await self._restarts.change(changes)
