"""Changes the jobs of a Mill by writing wishes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from headgate.errors import RefusedError
from headgate.model.decision import ConfigChanges
from headgate.model.identity import VertexId
from headgate.ports import JobContext

from headgate_mill.files import MillFiles, Wishes


class MillScalingRealizer:
    """A job obeys when it next reads its wishes. Implements `headgate.ports.ScalingRealizer`."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        """Take `directory`."""
        self._files = MillFiles(parameters)

    async def realize_parallelism_overrides(self, ctx: JobContext, overrides: Mapping[VertexId, int], /) -> bool:
        """Write the wish, unless the job already has it or runs so."""
        topology = self._files.status(ctx.key.name).topology
        for vertex, parallelism in overrides.items():
            most = topology.by_id[vertex].max_parallelism if vertex in topology.by_id else parallelism
            if parallelism > most:
                message = f"{ctx.key}: stage {vertex} cannot run at {parallelism}, only at 1 to {most}"
                raise RefusedError(message)
        wishes = self._files.wishes(ctx.key.name)
        asked = {vertex: wishes.parallelism.get(vertex, running) for vertex, running in topology.parallelism.items()}
        wanted = {vertex: overrides.get(vertex, count) for vertex, count in asked.items()}
        return wanted != asked and self._wish(ctx, replace(wishes, parallelism=wanted))

    async def realize_config_overrides(self, ctx: JobContext, changes: ConfigChanges, /) -> bool:
        """Write the settings; a job of Mill takes them over as it runs."""
        self._files.status(ctx.key.name)
        wishes = self._files.wishes(ctx.key.name)
        kept = {key: value for key, value in wishes.config.items() if key not in changes.removals}
        config = {**kept, **changes.overrides}
        return config != wishes.config and self._wish(ctx, replace(wishes, config=config))

    def _wish(self, ctx: JobContext, wishes: Wishes) -> bool:
        self._files.wish(ctx.key.name, replace(wishes, number=wishes.number + 1))
        return True
