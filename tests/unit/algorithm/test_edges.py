"""What flows along the edges of a job graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

from headgate.algorithm.edges import output_ratios, siblings
from headgate.algorithm.fleet import FleetJob, assemble
from headgate.algorithm.reduce import reduce_windows
from headgate.model.identity import VertexId
from headgate.model.measures import Measure
from headgate.model.topology import Edge, ShipStrategy, Topology, Vertex
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Parity
from headgate.testing.builders import ORDERS
from headgate.testing.tables import Row, steady, table_of


def _ratios(
    edges: Iterable[tuple[str, str]],
    flows: Mapping[str, tuple[float, float]],
    *,
    parity: Parity = Parity.CURRENT,
    ship: ShipStrategy = ShipStrategy.HASH,
    buffered: Mapping[str, float] = MappingProxyType({}),
) -> Mapping[tuple[str, str], float]:
    """Give the ratio of each edge, from what each vertex reads and writes per second, and had written before."""
    topology = Topology(
        vertices=tuple(Vertex(id=VertexId(name), name=name, parallelism=1, max_parallelism=8) for name in flows),
        edges=tuple(Edge(source=VertexId(u), target=VertexId(v), ship_strategy=ship) for u, v in edges),
    )
    rows: list[Row] = []
    for name, (read, written) in flows.items():
        rows += [_plus(row, buffered.get(name, 0)) for row in steady(name, read=read, written=written)]
    job = FleetJob(key=ORDERS, topology=topology, options=AutoscalerOptions(parity=parity))
    batch = assemble([job], reduce_windows(table_of(rows)))
    ratios = output_ratios(batch)
    ids = [vertex.id for vertex in topology.vertices]
    ends = zip(batch.upstream.tolist(), batch.downstream.tolist(), ratios.tolist(), strict=True)
    return {(ids[u], ids[v]): ratio for u, v, ratio in ends}


def _plus(row: Row, written: float) -> Row:
    values = {**row.values, Measure.NUM_RECORDS_OUT: row.values[Measure.NUM_RECORDS_OUT] + written}
    return replace(row, values=values)


def test_a_filter_has_a_ratio_below_one() -> None:
    """Records that come out per record that goes in."""
    assert _ratios([("in", "out")], {"in": (100, 40), "out": (40, 0)}) == {("in", "out"): 0.4}


def test_records_in_flight_are_demand() -> None:
    """The vertex reads 660/s of the 1000/s sent to it while its input buffers fill: the edge carries 1000/s."""
    flows = {"in": (1000, 1000), "slow": (660, 0)}

    assert _ratios([("in", "slow")], flows) == {("in", "slow"): 1.0}
    assert _ratios([("in", "slow")], flows, parity=Parity.REFERENCE) == {("in", "slow"): 0.66}


def test_emptying_the_buffers_is_no_demand() -> None:
    """The vertex reads 1200/s of the 1000/s sent to it: it works off what was sent before, and is fast enough."""
    flows = {"in": (1000, 1000), "fast": (1200, 0)}

    assert _ratios([("in", "fast")], flows, buffered={"in": 12_000}) == {("in", "fast"): 1.0}
    assert _ratios([("in", "fast")], flows, buffered={"in": 12_000}, parity=Parity.REFERENCE) == {("in", "fast"): 1.2}


def test_records_that_no_buffer_held_are_demand() -> None:
    """More was read than was ever written, so the counters count different things, and what is read counts."""
    flows = {"in": (1000, 1000), "fast": (1200, 0)}

    assert _ratios([("in", "fast")], flows) == {("in", "fast"): 1.2}
    assert _ratios([("in", "fast")], flows, buffered={"in": 6_000})["in", "fast"] == pytest.approx(1.1)


def test_a_fan_out_hides_what_is_in_flight() -> None:
    """What a vertex writes to two outputs cannot be told apart, so each edge is what its reader reads."""
    flows = {"in": (100, 150), "a": (90, 0), "b": (50, 0)}

    assert _ratios([("in", "a"), ("in", "b")], flows) == {("in", "a"): 0.9, ("in", "b"): 0.5}


def test_a_broadcast_is_read_many_times() -> None:
    """What is read of a broadcast edge is a multiple of what was written, so the two are not compared."""
    flows = {"rules": (10, 40), "apply": (20, 0)}

    assert _ratios([("rules", "apply")], flows, ship=ShipStrategy.BROADCAST) == {("rules", "apply"): 2.0}


def test_a_slow_join_needs_all_that_is_sent_to_it() -> None:
    """Two sources send 300/s together, the join reads 200/s: each edge is what its source sends."""
    flows = {"a": (100, 100), "b": (100, 200), "join": (200, 0)}

    assert _ratios([("a", "join"), ("b", "join")], flows) == {("a", "join"): 1.0, ("b", "join"): 2.0}
    assert _ratios([("a", "join"), ("b", "join")], flows, parity=Parity.REFERENCE) == {
        ("a", "join"): 0.0,
        ("b", "join"): 1.0,
    }


def test_a_join_that_empties_its_buffers_needs_what_is_sent() -> None:
    """What it reads beyond that was sent before; were it not, each edge would be what the other does not send."""
    edges = [("a", "join"), ("b", "join")]
    flows = {"a": (100, 100), "b": (100, 100), "join": (300, 0)}

    assert _ratios(edges, flows, buffered={"a": 6_000}) == {("a", "join"): 1.0, ("b", "join"): 1.0}
    assert _ratios(edges, flows) == {("a", "join"): 2.0, ("b", "join"): 2.0}


def test_a_join_beside_a_fan_out_falls_back() -> None:
    """One input of the join also feeds another vertex: the other input is known, that one is what is left."""
    edges = [("a", "join"), ("b", "join"), ("a", "side")]
    flows = {"a": (100, 180), "b": (100, 100), "join": (160, 0), "side": (120, 0)}

    ratios = _ratios(edges, flows)

    assert ratios["a", "join"] == pytest.approx(0.6)
    assert ratios["b", "join"] == 1.0
    assert ratios["a", "side"] == 1.2


def test_side_outputs_share_what_is_read() -> None:
    """
    Two vertices send 1000/s on and 10/s aside to a common vertex, which reads 20/s.

    The reference would scale that for 2000/s (FLINK-39939).
    """
    edges = [("a", "main"), ("b", "other"), ("a", "late"), ("b", "late")]
    flows = {"a": (1000, 1000), "b": (1000, 1000), "main": (990, 0), "other": (990, 0), "late": (20, 0)}

    ours, theirs = (_ratios(edges, flows, parity=parity) for parity in Parity)

    assert (ours["a", "late"], ours["b", "late"]) == (0.01, 0.01)
    assert (theirs["a", "late"], theirs["b", "late"]) == (1.0, 1.0)


def test_nothing_flows_from_a_vertex_that_reads_nothing() -> None:
    """An idle upstream has ratio 0, not a division by zero."""
    assert _ratios([("in", "out")], {"in": (0, 10), "out": (10, 0)}) == {("in", "out"): 0.0}


def test_siblings_are_the_other_edges_into_a_vertex() -> None:
    """Each edge is paired with each other one of the same target, in the edges' order."""
    edge, other = siblings(np.array([7, 3, 7, 7, 5]))

    assert list(zip(edge.tolist(), other.tolist(), strict=True)) == [(0, 2), (0, 3), (2, 0), (2, 3), (3, 0), (3, 2)]
