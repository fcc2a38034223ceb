"""What would have been enough: the least parallelism for a load, by the known curves alone."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.engines.simulated.graph import SimulatedJob, SimulatedVertex

_ROUNDING = 1e-9
"""A product such as 500 * 0.0014 / 0.7 is 1 on paper and slightly more in binary."""


def least_parallelism(
    job: SimulatedJob, arrivals_per_s: Mapping[str, float], *, utilization: float, most: int
) -> Mapping[str, int]:
    """
    Return the least parallelism of each vertex at which none is busier than the utilization; skew counts.

    Args:
        job: with the curves.
        arrivals_per_s: by the sources' names.
        utilization: busy share aimed at, above 0 and at most 1.
        most: where no parallelism is enough, the one that does most is given, up to this one.
    """
    rates = job.needed_rates(arrivals_per_s)
    return {vertex.name: _least(vertex, rates[vertex.name] / utilization, most) for vertex in job.vertices}


def _least(vertex: SimulatedVertex, needed_per_s: float, most: int) -> int:
    possible = range(1, min(most, vertex.max_parallelism, vertex.partitions or most) + 1)
    enough = needed_per_s * (1 - _ROUNDING)
    found = next((each for each in possible if vertex.capacity_per_s(each) >= enough), None)
    return found or max(possible, key=vertex.capacity_per_s)
