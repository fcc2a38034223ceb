"""One call of an alignment mode against the reference's cases."""

from __future__ import annotations

from headgate.algorithm.alignment import AlignmentMode, Span, align, is_applicable
from headgate.model.identity import VertexId
from headgate.model.topology import Vertex
from headgate.testing.golden import Case


def test_alignment(case: Case) -> None:
    """A target moves to equal shares, where it has any; only the legacy modes stop a change, and tell of it."""
    given = case.inputs
    partitions, key_groups = given["num_source_partitions"], given["max_parallelism"]
    vertex = Vertex(id=VertexId("v"), name="v", parallelism=1, max_parallelism=key_groups, partitions=partitions)
    applicable = is_applicable(vertex, keyed="HASH" in given["input_ship_strategies"])
    span = Span(
        current=given["current_parallelism"],
        shares=partitions or key_groups,
        lower=given["lower_limit"],
        most=min(key_groups, given["upper_limit"]),
    )

    found = align(given["target_parallelism"], span, AlignmentMode(given["mode"]))

    assert applicable is case.expected["applicable"]
    assert not applicable or found.parallelism == case.expected["parallelism"]
    assert applicable or given["target_parallelism"] == case.expected["parallelism"]
    assert not applicable or int(found.fell_short) == case.expected["scaling_limited_events"]
