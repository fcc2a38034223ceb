"""The built-in scaling policies of reactive mode, as plugins; the rules are `algorithm.reactive`."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.algorithm.reactive import policies
from headgate.model.identity import VertexId
from headgate.model.topology import Topology
from headgate.ports import AvailableResources, JobContext, ScalingPolicy


class Uniform:
    """All slots to every vertex, whatever parallelism the user has set. It knows no parameters."""

    def __init__(self, _parameters: Mapping[str, str] = {}, /) -> None:
        """Need no parameters."""

    def decide(
        self,
        _ctx: JobContext,
        resources: AvailableResources,
        topology: Topology,
        _configured: Mapping[VertexId, int],
        /,
    ) -> Mapping[VertexId, int]:
        """Give all vertices the same."""
        return policies.uniform(resources.slots, topology)


class Proportional:
    """In proportion to the parallelism with which the job was submitted. It knows no parameters."""

    def __init__(self, _parameters: Mapping[str, str] = {}, /) -> None:
        """Need no parameters."""

    def decide(
        self,
        _ctx: JobContext,
        resources: AvailableResources,
        topology: Topology,
        configured: Mapping[VertexId, int],
        /,
    ) -> Mapping[VertexId, int]:
        """Scale what was configured."""
        return policies.proportional(resources.slots, topology, configured)


class Bounds:
    """
    As `uniform`, with no more slots than a target: the job's `reactive.target-parallelism`, or the parameter `target`.

    The least and the most are kept for every policy, by the job's share of the slots.
    """

    def __init__(self, parameters: Mapping[str, str] = {}, /) -> None:
        """
        Read the parameters.

        Raises:
            ValueError: the target is no whole number of 1 or more, or there is another parameter.
        """
        if unknown := ", ".join(sorted(parameters.keys() - {"target"})):
            message = f"unknown parameter {unknown}. Hint: there is target"
            raise ValueError(message)
        self._target = _count(parameters["target"]) if "target" in parameters else None

    def decide(
        self,
        ctx: JobContext,
        resources: AvailableResources,
        topology: Topology,
        _configured: Mapping[VertexId, int],
        /,
    ) -> Mapping[VertexId, int]:
        """Go to the target as far as the slots go."""
        target = ctx.options.reactive.target_parallelism
        return policies.bounds(resources.slots, topology, self._target if target is None else target)


def _count(text: str) -> int:
    if not text.strip().isdecimal() or int(text) < 1:
        message = f"target {text!r} is no whole number of 1 or more"
        raise ValueError(message)
    return int(text)


BUILT_IN: Mapping[str, ScalingPolicy] = {"uniform": Uniform(), "proportional": Proportional(), "bounds": Bounds()}
"""By their registered names, for whoever composes them without a host."""
