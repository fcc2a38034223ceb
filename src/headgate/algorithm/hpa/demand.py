"""What comes to each vertex, as far as readings tell: nothing that the HPA goes by, but what others hold it against."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from headgate.algorithm.hpa.readings import Reading
from headgate.model.identity import VertexId
from headgate.model.topology import Topology


def coming(topology: Topology, own: Mapping[VertexId, Reading]) -> Mapping[VertexId, float]:
    """
    Give the records/s that come to each vertex, NaN where that is unknown.

    To a source comes what it reads and what its lag grows by; to any other what it reads, and more in the proportion
    in which more comes to its inputs than they read.

    Args:
        topology: of the job.
        own: what each vertex tells by itself.
    """
    found: dict[VertexId, float] = {}
    for vertex in topology.by_id:
        if vertex not in own:
            continue
        inputs = [edge.source for edge in topology.inputs[vertex] if edge.source in found]
        if inputs:
            read, more = sum(own[each].rate for each in inputs), sum(found[each] for each in inputs)
            found[vertex] = _carried(own[vertex].rate, read, more)
        else:
            found[vertex] = _of_source(own[vertex])
    return found


def _of_source(own: Reading) -> float:
    """Give what comes in, never negative; no lag at all counts as none, as in `demand.source_target`."""
    return float(np.maximum(0.0, own.rate + np.nan_to_num(own.lag_slope)))


def _carried(rate: float, read: float, coming_in: float) -> float:
    """Give what comes to a vertex that reads a rate, by what its inputs read and what comes to them."""
    if math.isnan(rate):
        return coming_in
    return rate * coming_in / read if read > 0 and not math.isnan(coming_in) else rate
