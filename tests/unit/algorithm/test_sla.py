"""How far behind a rescale leaves one vertex, and when it is level again, in numbers."""

from __future__ import annotations

import math
from dataclasses import replace

from headgate.algorithm.sla import Load, carried, lag_time_s, recovery_s
from headgate.model.identity import VertexId
from headgate.model.topology import Edge, Topology, Vertex

A, B, JOINED = VertexId("a"), VertexId("b"), VertexId("joined")


def test_a_backlog_is_worked_off_by_what_is_to_spare() -> None:
    """12,000 records at 120/s to spare take 100 s; without anything to spare they stay."""
    assert recovery_s(12_000, 400, 280) == 100
    assert recovery_s(12_000, 280, 280) == recovery_s(0, 200, 280) == math.inf
    assert recovery_s(0, 280, 280) == 0


def test_the_oldest_record_is_as_old_as_its_backlog_took_to_come() -> None:
    """280/s come in, so 5,600 records have waited for 20 s; where nothing comes in nobody knows."""
    assert lag_time_s(5_600, 280) == 20
    assert lag_time_s(0, 0) == 0
    assert lag_time_s(1, 0) == math.inf


def test_growth_that_brings_less_than_its_share_takes_more_subtasks() -> None:
    """Along a curve of exponent 0.5 twice the capacity takes four times the subtasks; shrinking is in proportion."""
    load = Load(name="sink", parallelism=4, most=100, capacity=400, rate=300, lag=50_000, exponent=0.5)
    assert load.need(0, 100) == 800
    assert load.least_in_time(0, 100) == 16
    assert replace(load, exponent=1.0).least_in_time(0, 100) == 8
    assert replace(load, exponent=1.0, share=0.5).least_in_time(0, 100) == 16
    assert load.capacity_at(2) == 200


def test_a_vertex_has_to_work_off_what_waits_in_its_sources_in_the_proportion_of_its_input() -> None:
    """Of two sources with 100/s each one lags by 1,000 records; half as many records come out of the join."""
    graph = Topology(
        vertices=tuple(Vertex(id=each, name=each, parallelism=1, max_parallelism=8) for each in (A, B, JOINED)),
        edges=(Edge(source=A, target=JOINED), Edge(source=B, target=JOINED)),
    )
    rates = {A: 100.0, B: 100.0, JOINED: 100.0}
    assert carried(graph, rates, {A: 1000.0}) == {A: 1000, B: 0, JOINED: 500}
