"""Uses what slots there are, as far as Mill's licences go."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.model.identity import VertexId
from headgate.model.topology import Topology
from headgate.ports import AvailableResources, JobContext


class Licensed:
    """
    All slots to every vertex, but no more subtasks in total than there are licences, at least one each.

    Implements `headgate.ports.ScalingPolicy`.
    """

    def __init__(self, parameters: Mapping[str, str]) -> None:
        """
        Read `licences`, a whole number.

        Raises:
            ValueError: it is missing, or no number.
        """
        self._licences = int(parameters.get("licences", ""))

    def decide(
        self, ctx: JobContext, resources: AvailableResources, topology: Topology, configured: Mapping[VertexId, int], /
    ) -> Mapping[VertexId, int]:
        """Give all vertices the same."""
        each = self._licences // len(topology.vertices)
        return dict.fromkeys(topology.by_id, max(1, min(resources.slots, each)))
