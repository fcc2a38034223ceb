"""The safety rules of a decision, for any numbers and any options."""

from __future__ import annotations

from dataclasses import replace

import hypothesis.strategies as st
from hypothesis import given

from headgate.algorithm.decide import decide
from headgate.algorithm.propose import propose
from headgate.model.decision import Outcome
from headgate.model.identity import VertexId
from headgate.model.metrics import EvaluatedMetrics, ScalingMetric, VertexMetrics
from headgate.model.topology import Topology, Vertex
from headgate.options.autoscaler import AutoscalerOptions
from headgate.testing.builders import START, sample

V = VertexId("v")

graphs = st.builds(
    lambda parallelism, spare, partitions: Topology(
        vertices=(
            Vertex(
                id=V,
                name="v",
                parallelism=parallelism,
                max_parallelism=parallelism + spare,
                partitions=partitions,
            ),
        )
    ),
    st.integers(1, 300),
    st.integers(0, 300),
    st.none() | st.integers(0, 300),
)
options = st.builds(
    lambda least, spare, up, down: AutoscalerOptions(
        min_parallelism=least, max_parallelism=least + spare, scale_up_max_factor=up, scale_down_max_factor=down
    ),
    st.integers(1, 250),
    st.integers(0, 250),
    st.floats(0, 100_000),
    st.floats(0, 1),
)
factors = st.none() | st.floats(0, allow_nan=False)


def _evaluated(factor: float | None, *, outside: bool = True, backlog: bool = False) -> EvaluatedMetrics:
    rate = {ScalingMetric.TRUE_PROCESSING_RATE: 1.0}
    needed = None if factor is None else 1.0
    metrics = VertexMetrics(metrics=rate, needed_capacity=needed, factor=factor, outside=outside)
    return EvaluatedMetrics(vertices={V: metrics}, backlog=backlog, coverage=1.0, samples=2)


@given(graph=graphs, option=options, factor=factors, backlog=st.booleans())
def test_bounds_are_never_violated(
    graph: Topology, option: AutoscalerOptions, factor: float | None, *, backlog: bool
) -> None:
    """A vertex that moves stays within what the user, the engine and the partitions allow, or moves towards it."""
    vertex = graph.by_id[V]
    wanted = propose(graph, _evaluated(factor, backlog=backlog), option, START)[0].wanted

    assert 1 <= wanted <= vertex.max_parallelism
    assert wanted <= max(option.max_parallelism, vertex.parallelism)
    if vertex.partitions:
        assert wanted <= max(vertex.partitions, vertex.parallelism)
    else:
        assert wanted >= min(option.min_parallelism, vertex.parallelism)
        assert not backlog or wanted >= vertex.parallelism


@given(graph=graphs, option=options, pair=st.tuples(st.floats(0, 1e9), st.floats(0, 1e9)))
def test_more_load_never_means_fewer_subtasks(
    graph: Topology, option: AutoscalerOptions, pair: tuple[float, float]
) -> None:
    """What is wanted grows with what is needed."""
    less, more = (propose(graph, _evaluated(factor), option, START)[0].wanted for factor in sorted(pair))

    assert less <= more


@given(graph=graphs, option=options, outside=st.booleans())
def test_nothing_is_decided_on_the_unknown(graph: Topology, option: AutoscalerOptions, *, outside: bool) -> None:
    """Without a factor a vertex is only ever taken back to its partitions, and keeps its parallelism otherwise."""
    plain = replace(graph, vertices=tuple(replace(vertex, partitions=None) for vertex in graph.vertices))

    assert decide(sample(plain), _evaluated(None, outside=outside), option, START).outcome is Outcome.KEEP


@given(graph=graphs, option=options, factor=factors)
def test_the_same_input_gives_the_same_decision(
    graph: Topology, option: AutoscalerOptions, factor: float | None
) -> None:
    """Down to the id and every step."""
    first, second = (decide(sample(graph), _evaluated(factor), option, START) for _ in range(2))

    assert first == second


@given(graph=graphs, option=options, factor=factors)
def test_the_trail_leads_to_the_target(graph: Topology, option: AutoscalerOptions, factor: float | None) -> None:
    """Every step begins where the one before ended, and the last one ends at what is wanted."""
    proposal = propose(graph, _evaluated(factor), option, START)[0]

    places = [proposal.current, *(step.after for step in proposal.steps)]
    assert [step.before for step in proposal.steps] == places[:-1]
    assert places[-1] == proposal.wanted
