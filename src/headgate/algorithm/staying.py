"""
What a vertex has cost by its present size so far, beside the size that it should have, in seconds of its input.

It is counted since the instant from which on it cost most: of whoever could have moved then. So a load that changes
again and again while the size stays wrong adds up, and one that was right in between does not.
Source: the cumulative sum of Page (1954).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from headgate.model.arrival import Arrival
from headgate.model.decision import Proposal
from headgate.model.metrics import ScalingMetric

_IDLE = 0.4
"""What a second of capacity too much is worth, in seconds of input that waits."""

_GOES_ON = 2.0
"""
How many times as long as it has lasted a load is expected to go on that is more than can be done: a Pareto index of
1.5. Of one that leaves too much it is as long again: to look once more costs little there.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Two sizes of a vertex, and what is asked of it; records/s."""

    capacity: float
    """Of the present size."""
    wanted: float
    """Of the other one."""
    target: float
    """The input of now, for which the other one is the right size."""
    catch_up: float = 0.0
    """To work off the lag of now in time."""

    @classmethod
    def of(cls, proposal: Proposal, metrics: Mapping[ScalingMetric, float]) -> Sizes | None:
        """Take what was evaluated; None where that does not tell."""
        capacity = metrics.get(ScalingMetric.TRUE_PROCESSING_RATE, math.nan)
        target = metrics.get(ScalingMetric.TARGET_DATA_RATE, math.nan)
        catch_up = metrics.get(ScalingMetric.CATCH_UP_DATA_RATE, 0.0)
        if not (math.isfinite(capacity) and capacity > 0 and math.isfinite(target + catch_up)):
            return None
        wanted = capacity * proposal.wanted / proposal.current
        return cls(capacity=capacity, wanted=wanted, target=target, catch_up=catch_up)

    def cost(self, load: float = 1.0) -> float:
        """
        Give what the present size costs for each second under so many times the load of now, in seconds of input.

        What falls behind is urgent; what is idle is not, and a reserve that is too small costs nothing yet. Without
        any input, what falls behind counts in seconds of what the vertex can do.
        """
        if self.wanted > self.capacity:
            behind = max(0.0, self.target * load + self.catch_up - self.capacity)
            return behind / (self.target or self.capacity) * _GOES_ON
        idle = self.capacity - max(self.wanted, min(self.capacity, self.wanted * load))
        return idle / self.capacity * _IDLE


def cost_so_far(sizes: Sizes, arrival: Arrival, running_s: float) -> float:
    """Give what staying has cost; no time counts before the present size ran, for `running_s` by now."""
    since_change = sizes.cost() * min(arrival.lasted_s, running_s)
    since = (sizes.cost(load) * span_s for span_s, load in _loads(arrival) if span_s <= running_s)
    return max(since_change, *since, 0.0)


def _loads(arrival: Arrival) -> Iterator[tuple[float, float]]:
    """Give how long, and how many times the load of now came in over that."""
    if arrival.per_s:
        yield from ((span_s, per_s / arrival.per_s) for span_s, per_s in arrival.means)
