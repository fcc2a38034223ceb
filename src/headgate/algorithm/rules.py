"""Where Headgate reads its measurements otherwise than the reference autoscaler: one named rule each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The default is Headgate's reading; `PARITY` is the reference's."""

    count_in_flight: bool = True
    """
    Records in flight are demand.

    A slow vertex's backlog hides in its network buffers for minutes: the upstream writes 1000/s, the vertex reads
    660/s, and no source lags yet. Demand taken from what a vertex reads would say that it keeps up.
    """

    counters_first: bool = True
    """
    Rates come from differences of counters; the engine's own rate gauge only stands in where there is no counter.

    The gauge is a moving average over about a minute, so it reports a step of the load that late.
    """


HEADGATE = Rules()
PARITY = Rules(count_in_flight=False, counters_first=False)
