"""
How far behind a rescale leaves a job, and how long it then takes to be level again: formulas of one vertex.

Source: Varga, Balassi and Kiss 2021, whose measured cost of a rescale is to be weighed against an agreement. Nothing
here decides; `agreement` does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from headgate.algorithm.curve import Point
from headgate.algorithm.policies import LARGEST
from headgate.model.identity import VertexId
from headgate.model.topology import Topology


def backlog(lag: float, rate: float, downtime_s: float) -> float:
    """Give the records that wait after a downtime: those that waited before, and what comes in meanwhile."""
    return lag + rate * downtime_s


def recovery_s(waiting: float, capacity: float, rate: float) -> float:
    """
    Give the seconds in which a backlog is worked off by what capacity is to spare; infinite without any.

    Args:
        waiting: records.
        capacity: records/s at full busyness.
        rate: records/s that come in meanwhile.
    """
    if capacity <= rate:
        return 0.0 if waiting <= 0 and capacity == rate else math.inf
    return waiting / (capacity - rate)


def lag_time_s(lag: float, rate: float) -> float:
    """Give the age of the oldest record that waits, while `rate` records/s come in; infinite where none do."""
    if lag <= 0:
        return 0.0
    return lag / rate if rate > 0 else math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What one vertex can do and has to; records, and records/s."""

    name: str
    parallelism: int
    """Running now."""
    most: int
    """Largest that it may have next, its running one at least."""
    capacity: float
    """At full busyness, as it runs now; finite and above 0."""
    rate: float
    """That comes to it."""
    lag: float
    """Records that wait for it."""
    exponent: float = 1.0
    """Of the curve along which it grows."""
    share: float = 1.0
    """Share of its rate that a subtask keeps where it grows, above 0 to 1."""

    def capacity_at(self, parallelism: int) -> float:
        """Give what it can do at a parallelism: no more than in proportion, and never less for more subtasks."""
        ratio = parallelism / self.parallelism
        if ratio <= 1:
            return self.capacity * ratio
        return max(self.capacity, self.capacity * self.share * math.pow(ratio, self.exponent))

    def recovery_s(self, parallelism: int, downtime_s: float) -> float:
        """Give how long it takes to be level again at a parallelism, after a downtime."""
        return recovery_s(backlog(self.lag, self.rate, downtime_s), self.capacity_at(parallelism), self.rate)

    def need(self, downtime_s: float, within_s: float) -> float:
        """Give the capacity that works off what waits after a downtime in time, and what comes in as well."""
        return self.rate + backlog(self.lag, self.rate, downtime_s) / within_s

    def least_in_time(self, downtime_s: float, within_s: float) -> int:
        """Give the least parallelism at which it is level again in time after a downtime, 1 to `LARGEST`."""
        need = self.need(downtime_s, within_s)
        if need <= 0:
            return 1
        if need <= self.capacity:
            return Point(self.parallelism, self.capacity).least_serving(need)
        return min(Point(self.parallelism, self.capacity * self.share).least_serving(need, self.exponent), LARGEST)


def carried(
    topology: Topology, rates: Mapping[VertexId, float], lags: Mapping[VertexId, float]
) -> dict[VertexId, float]:
    """
    Give the records of the sources' lag that will reach each vertex.

    They reach it in the proportion in which its inputs' records do now; nothing does where nothing is known.
    """
    found: dict[VertexId, float] = {}
    for vertex in topology.by_id:
        inputs = [edge.source for edge in topology.inputs[vertex]]
        if not inputs:
            found[vertex] = lags.get(vertex, 0.0)
            continue
        waiting, coming = (sum(values.get(each, 0.0) for each in inputs) for values in (found, rates))
        found[vertex] = waiting * rates.get(vertex, 0.0) / coming if coming > 0 else waiting
    return found
