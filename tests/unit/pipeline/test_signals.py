"""Signals in the evaluation: an added rate is carried through the graph, a lag is a lag like any other."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.model.identity import VertexId
from headgate.model.measures import Measure
from headgate.model.metrics import EvaluatedMetrics, ScalingMetric
from headgate.model.samples import JobSample, Signal, VertexSample
from headgate.options.autoscaler import AutoscalerOptions, ScalingSignal
from headgate.options.signals import SignalOptions, SignalUse
from headgate.pipeline.in_process import InProcessEvaluator
from headgate.ports import Candidate
from headgate.testing.builders import ORDERS, at, chain, sample

GRAPH = chain({"source": 2, "agg": 2})
WINDOW = timedelta(seconds=60)
PLAIN = AutoscalerOptions(metrics_window=WINDOW, restart_time=timedelta(), stabilization_interval=timedelta())


def ticks(lag: tuple[float, ...] = (), **signals: Signal) -> list[JobSample]:
    """Give seven samples: 100 records/s are read, and each gives two; a lag at the first of them, as far as it goes."""
    made = []
    for number in range(7):
        seconds = 10.0 * number
        vertices = {
            VertexId(name): VertexSample(
                measured_at=at(seconds),
                values={
                    Measure.NUM_RECORDS_IN: factor * 100 * seconds,
                    Measure.NUM_RECORDS_OUT: 200 * seconds,
                    Measure.LOAD: 0.5,
                    **({Measure.LAG: lag[number]} if name == "source" and number < len(lag) else {}),
                },
            )
            for name, factor in (("source", 1), ("agg", 2))
        }
        made.append(replace(sample(GRAPH, tick=at(seconds)), vertices=vertices, signals=signals))
    return made


def evaluated(samples: list[JobSample], options: AutoscalerOptions) -> EvaluatedMetrics:
    """Evaluate what was sampled."""
    evaluator = InProcessEvaluator(collect_interval=timedelta(seconds=10), keep=WINDOW)
    for one in samples:
        evaluator.append([one])
    question = Candidate(sample=samples[-1], options=options, window_from=at(0))
    answer = evaluator.evaluate([question], at(60))[ORDERS]
    assert isinstance(answer, EvaluatedMetrics)
    return answer


def targets(found: EvaluatedMetrics) -> list[float]:
    """Give the records/s that each vertex has to do."""
    return [one.metrics[ScalingMetric.TARGET_DATA_RATE] for one in found.vertices.values()]


def options(use: SignalUse, **others: object) -> AutoscalerOptions:
    """Make options with one signal of that use."""
    declared = SignalOptions(name="more", source="there", use=use)
    plain = AutoscalerOptions(
        metrics_window=WINDOW,
        restart_time=timedelta(),
        stabilization_interval=timedelta(),
        signals_in_force=(declared,),
    )
    return replace(plain, **others)  # type: ignore[arg-type]


def test_an_added_rate_is_carried_downstream() -> None:
    """50 records/s more at the source are 100 more behind it, at the same output ratio."""
    using = options(SignalUse.ADDED_RATE)
    assert targets(evaluated(ticks(), using)) == [100.0, 200.0]
    assert targets(evaluated(ticks(more=Signal(value=50.0, measured_at=at(55))), using)) == [150.0, 300.0]


def test_an_added_rate_too_old_adds_nothing() -> None:
    """Its vertices are evaluated by what is known; that nothing shrinks then is the decision's business."""
    old = Signal(value=50.0, measured_at=at(-100))
    assert targets(evaluated(ticks(more=old), options(SignalUse.ADDED_RATE))) == [100.0, 200.0]


def test_by_busy_time_alone_an_added_rate_stays_at_its_source() -> None:
    """Nothing is carried there."""
    using = options(SignalUse.ADDED_RATE, scaling_signal=ScalingSignal.BUSY_TIME)
    assert targets(evaluated(ticks(more=Signal(value=50.0, measured_at=at(55))), using)) == [150.0, 200.0]


def test_without_a_signal_nothing_is_other_than_before() -> None:
    """The very same numbers, whatever signals a sample may hold that nobody declared."""
    with_signal = evaluated(ticks(more=Signal(value=50.0, measured_at=at(55))), PLAIN)
    assert dict(with_signal.vertices) == dict(evaluated(ticks(), PLAIN).vertices)


@pytest.mark.parametrize(("lag", "target"), [((0.0, 300.0, 600.0, 900.0, 1200.0, 1500.0, 1800.0), 130.0), ((), 100.0)])
def test_a_lag_that_was_entered_counts_as_any_other(lag: tuple[float, ...], target: float) -> None:
    """Its growth of 30 records/s comes on top of what is read."""
    assert targets(evaluated(ticks(lag), options(SignalUse.LAG)))[0] == target


def test_a_lag_that_is_read_seldom_gives_the_same_trend() -> None:
    """Samples between two readings have none: the window's rate is that between the first and the last."""
    seldom = ticks((0.0, 300.0, 600.0, 900.0, 1200.0, 1500.0, 1800.0))
    for number in (1, 2, 4, 5):
        source = seldom[number].vertices[VertexId("source")]
        values = {**source.values}
        values.pop(Measure.LAG)
        seldom[number] = replace(
            seldom[number],
            vertices={**seldom[number].vertices, VertexId("source"): replace(source, values=values)},
        )
    assert targets(evaluated(seldom, options(SignalUse.LAG)))[0] == 130.0
