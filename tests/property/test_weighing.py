"""Weighing says when, never what: for any numbers, options and changes of the load."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import hypothesis.strategies as st
from hypothesis import given

from headgate.algorithm.decide import decide
from headgate.algorithm.weighing import eager
from headgate.model.arrival import Arrival
from headgate.model.decision import Decision, Outcome
from headgate.model.identity import VertexId
from headgate.model.metrics import EvaluatedMetrics, ScalingMetric, VertexMetrics
from headgate.model.reasons import Reason
from headgate.model.topology import Topology
from headgate.options.autoscaler import AutoscalerOptions
from headgate.testing.builders import START, chain, sample

LONG_AGO = START - timedelta(days=1)
NAMES = [VertexId(name) for name in ("v0", "v1", "v2")]

positive = st.floats(0, 1e12, allow_nan=False)
arrivals = st.builds(
    Arrival,
    per_s=st.none() | positive,
    error=st.none() | st.just(0.0) | st.floats(0, 1e6),
    lasted_s=positive | st.just(float("inf")),
    changed=st.booleans(),
    rising=st.booleans(),
    means=st.lists(st.tuples(positive, positive), max_size=4).map(tuple),
)
metrics = st.dictionaries(
    st.sampled_from(
        [
            ScalingMetric.TARGET_DATA_RATE,
            ScalingMetric.CATCH_UP_DATA_RATE,
            ScalingMetric.SCALE_UP_RATE_THRESHOLD,
            ScalingMetric.SCALE_DOWN_RATE_THRESHOLD,
        ]
    ),
    positive | st.just(float("inf")),
)
vertices = st.builds(
    lambda known, rate, factor: VertexMetrics(
        metrics={**known, ScalingMetric.TRUE_PROCESSING_RATE: rate},
        needed_capacity=rate * factor,
        factor=factor,
        outside=factor != 1.0,
    ),
    metrics,
    st.floats(0.001, 1e9),
    st.just(1.0) | st.floats(0, 100),
)
options = st.builds(
    AutoscalerOptions,
    max_parallelism=st.integers(1, 50),
    scale_down_interval=st.sampled_from([timedelta(), timedelta(minutes=1), timedelta(hours=1)]),
    scale_down_max_factor=st.sampled_from([0.3, 0.6, 1.0]),
    restart_time=st.timedeltas(timedelta(), timedelta(minutes=10)),
    alignment_mode=st.just("OFF"),
)
graphs = st.lists(st.integers(1, 40), min_size=1, max_size=3).map(
    lambda subtasks: chain(dict(zip(NAMES, subtasks, strict=False)))
)
numbers = st.lists(vertices, min_size=3, max_size=3)


def decided(graph: Topology, each: list[VertexMetrics], arrival: Arrival | None, option: AutoscalerOptions) -> Decision:
    """Decide with what is known of the input, or without."""
    known = dict(zip(graph.by_id, each, strict=False))
    evaluated = EvaluatedMetrics(vertices=known, backlog=False, coverage=1.0, samples=5, arrival=arrival)
    return decide(sample(graph, running_since=LONG_AGO), evaluated, option, START)


@given(graph=graphs, each=numbers, arrival=arrivals, option=options)
def test_what_is_wanted_is_what_would_be_wanted_without(
    graph: Topology, each: list[VertexMetrics], arrival: Arrival, option: AutoscalerOptions
) -> None:
    """A rescale that waits is the one that would have been made, and none is made that nobody wanted."""
    weighed, plain = decided(graph, each, arrival, option), decided(graph, each, None, eager(option))

    assert weighed.targets == plain.targets
    assert weighed.id == plain.id
    if weighed.outcome is not plain.outcome:
        assert (plain.outcome, weighed.outcome) == (Outcome.RESCALE, Outcome.KEEP)
        assert weighed.reason is Reason.EVIDENCE_AWAITED
        assert weighed.message.startswith(plain.message)


@given(graph=graphs, each=numbers, arrival=arrivals, option=options, more=st.floats(1, 100))
def test_who_has_waited_long_enough_has_waited_long_enough(
    graph: Topology, each: list[VertexMetrics], arrival: Arrival, option: AutoscalerOptions, more: float
) -> None:
    """With all else as it is, what is made after some time is made after a longer one, too."""
    later = replace(arrival, lasted_s=more * arrival.lasted_s)
    now, then = decided(graph, each, arrival, option), decided(graph, each, later, option)

    if now.reason is not Reason.EVIDENCE_AWAITED:
        assert then.outcome is now.outcome


@given(graph=graphs, each=numbers, arrival=arrivals, option=options)
def test_what_is_weighed_is_told_in_numbers(
    graph: Topology, each: list[VertexMetrics], arrival: Arrival, option: AutoscalerOptions
) -> None:
    """In one line, and nothing in it is not a number."""
    words = decided(graph, each, arrival, option).message.replace(";", " ").replace("%", " ").split()

    assert "nan" not in words
    assert "None" not in words
