"""What plugins give, held to what can be."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from headgate.model.identity import VertexId
from headgate.model.measures import Measure
from headgate.model.metrics import EvaluatedMetrics, NotReady, ScalingMetric, VertexMetrics
from headgate.model.reasons import Reason
from headgate.model.samples import Signal, VertexSample
from headgate.plugins.soundness import sound_metrics, sound_overrides, sound_sample, sound_signals
from headgate.testing.builders import at, chain, context, evaluated, sample

GRAPH = chain({"a": 2, "b": 3})
A, B = VertexId("a"), VertexId("b")
RATE = ScalingMetric.TRUE_PROCESSING_RATE


def judged(**parts: Any) -> VertexMetrics:
    """Give what is made of one vertex of which an evaluator says this."""
    given = VertexMetrics(
        **{"metrics": {RATE: 100.0}, "needed_capacity": 200.0, "factor": 2.0, "outside": True, **parts}
    )
    answer = sound_metrics(replace(evaluated(GRAPH, {}), vertices={A: given, B: _usual()}), GRAPH)
    assert isinstance(answer, EvaluatedMetrics)
    return answer.vertices[A]


def _usual() -> VertexMetrics:
    return evaluated(GRAPH, {}).vertices[B]


def test_what_is_sound_stays_as_it_is() -> None:
    """But for the facts of the graph, which are Headgate's to know."""
    answer = sound_metrics(evaluated(GRAPH, {"a": 2.0}), GRAPH)
    assert isinstance(answer, EvaluatedMetrics)
    assert [(one.factor, one.outside) for one in answer.vertices.values()] == [(2.0, True), (1.0, False)]
    assert answer.vertices[A].metrics[ScalingMetric.PARALLELISM] == 2


def test_vertices_that_the_job_does_not_have_are_left_out() -> None:
    """An evaluator may know an older graph."""
    answer = sound_metrics(evaluated(chain({"a": 2, "z": 1}), {}), GRAPH)
    assert isinstance(answer, EvaluatedMetrics)
    assert list(answer.vertices) == [A]


def test_factor_and_need_follow_from_each_other() -> None:
    """One of them is enough, with the true rate."""
    assert judged(factor=None).factor == 2.0
    assert judged(needed_capacity=None).needed_capacity == 200.0
    with pytest.raises(ValueError, match="has factor 3, but needs 200/s and does 100/s"):
        judged(factor=3.0)


@pytest.mark.parametrize(
    "parts", [{"metrics": {}}, {"metrics": {RATE: math.nan}}, {"factor": None, "needed_capacity": math.nan}]
)
def test_a_vertex_of_which_too_little_is_known_is_left_alone(parts: dict[str, Any]) -> None:
    """NaN is unknown, and a factor without a rate is no number to decide by."""
    known = judged(**parts)
    assert (known.factor, known.needed_capacity, known.outside) == (None, None, False)


def test_being_outside_is_told_by_the_band() -> None:
    """Whatever the evaluator says; where it gives no band, it is taken at its word."""
    band = {ScalingMetric.SCALE_UP_RATE_THRESHOLD: 90.0, ScalingMetric.SCALE_DOWN_RATE_THRESHOLD: 300.0}
    assert not judged(metrics={RATE: 100.0, **band}).outside
    assert judged(metrics={RATE: 80.0, **band}, factor=2.5).outside
    assert judged().outside


def test_a_factor_that_says_what_it_follows_from_needs_no_rate() -> None:
    """What is needed for it is not known then."""
    known = judged(metrics={}, basis="as the night before")
    assert (known.factor, known.needed_capacity, known.outside) == (2.0, None, True)


@pytest.mark.parametrize(("rate", "needed", "factor"), [(0.0, 5.0, math.inf), (0.0, 0.0, 0.0), (math.inf, 5.0, 0.0)])
def test_the_built_in_evaluators_borders_are_sound(rate: float, needed: float, factor: float) -> None:
    """Who composes it gives what it gives."""
    assert judged(metrics={RATE: rate}, needed_capacity=needed, factor=factor).factor == factor


def test_limits_are_those_of_growth() -> None:
    """A limit below 1 would shrink; one for another reason has no words."""
    assert judged(limits={Reason.SKEW: 0.5, Reason.BALANCED: 2.0}).limits == {Reason.SKEW: 1.0}


@pytest.mark.parametrize(
    "answer",
    [
        replace(evaluated(GRAPH, {}), coverage=math.nan),
        replace(evaluated(GRAPH, {}), coverage=1.5),
        replace(evaluated(GRAPH, {}), samples=-1),
        replace(evaluated(GRAPH, {}), vertices={A: replace(_usual(), metrics={RATE: -1.0})}),
        replace(evaluated(GRAPH, {}), vertices={A: replace(_usual(), needed_capacity=-1.0, factor=None)}),
    ],
)
def test_what_contradicts_itself_is_refused(answer: EvaluatedMetrics) -> None:
    """All of it."""
    with pytest.raises(ValueError, match=r"out of range|is -1|needs -1/s"):
        sound_metrics(answer, GRAPH)


def test_an_evaluator_that_knows_nothing_makes_a_job_not_ready() -> None:
    """It would look balanced otherwise."""
    nothing = replace(evaluated(GRAPH, {}), vertices={})
    answer = sound_metrics(nothing, GRAPH)
    assert isinstance(answer, NotReady)
    assert answer.reason is Reason.MISSING_METRICS


def test_overrides_are_numbers() -> None:
    """NaN replaces nothing; what cannot be is refused."""
    assert sound_overrides({ScalingMetric.LAG: math.nan, RATE: math.inf}) == {RATE: math.inf}
    for bad in ({ScalingMetric.LAG: -1.0}, {ScalingMetric.TARGET_DATA_RATE: math.inf}):
        with pytest.raises(ValueError, match=r"is -1|is inf"):
            sound_overrides(bad)


def test_a_sample_is_of_the_job_and_tick_that_were_asked_for() -> None:
    """With what could be measured of vertices that are there."""
    values = {Measure.LAG: 5.0, Measure.LOAD: math.nan}
    odd = {A: VertexSample(measured_at=at(0), values=values), VertexId("z"): VertexSample(measured_at=at(0))}
    sound = sound_sample(replace(sample(GRAPH), vertices=odd), context(job_id="j7"), at(10))
    assert (sound.at, sound.job_id, list(sound.vertices)) == (at(10), "j7", [A])
    assert sound.vertices[A].values == {Measure.LAG: 5.0}


def test_a_sample_that_cannot_be_is_refused() -> None:
    """Of another job, with a vertex that has no subtasks, or counting below zero."""
    below = {A: VertexSample(measured_at=at(0), values={Measure.LAG: -1.0})}
    empty = sample(GRAPH.with_parallelism({A: 0}))
    for bad in (sample(GRAPH, job=context().key.__class__("x", "y")), empty, replace(sample(GRAPH), vertices=below)):
        with pytest.raises(ValueError, match=r"is none of|has 0 of|below zero"):
            sound_sample(bad, context(), at(0))


def test_a_signal_without_a_value_is_none() -> None:
    """Absent, as its port says."""
    signals = {"x": Signal(value=math.nan, measured_at=at(0)), "y": Signal(value=1.0, measured_at=at(0))}
    assert list(sound_signals(signals)) == ["y"]
