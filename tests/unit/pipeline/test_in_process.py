"""The evaluator in memory: what it keeps, what it forgets, what counts."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from math import inf

from headgate.model.identity import JobKey
from headgate.model.measures import Measure
from headgate.model.metrics import EvaluatedMetrics, NotReady, ScalingMetric
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample, VertexSample
from headgate.options.autoscaler import AutoscalerOptions
from headgate.pipeline.in_process import InProcessEvaluator
from headgate.ports import Candidate
from headgate.testing.builders import ORDERS, at, chain, sample

WINDOW = timedelta(minutes=5)
OPTIONS = AutoscalerOptions(metrics_window=WINDOW, stabilization_interval=timedelta())
LONE = chain({"source": 2})
SOURCE = LONE.vertices[0].id


def measured(second: int, *, rate: float = 100.0, job: JobKey = ORDERS) -> JobSample:
    """Build a sample of a lone source that has read at this rate since the story began, a quarter busy."""
    made = sample(LONE, job=job, tick=at(second))
    values = {
        Measure.NUM_RECORDS_IN: rate * second,
        Measure.ACCUMULATED_BUSY_TIME: 250.0 * 2 * second,
        Measure.LOAD: 0.25,
        Measure.LAG: 0.0,
    }
    return replace(made, vertices={SOURCE: VertexSample(measured_at=made.at, values=values)})


def evaluator(*, until: int = 300) -> InProcessEvaluator:
    """Give an evaluator that saw a tick every ten seconds."""
    seen = InProcessEvaluator(collect_interval=timedelta(seconds=10), keep=WINDOW)
    for second in range(0, until + 1, 10):
        seen.append([measured(second)])
    return seen


def asked(second: int, *, job: JobKey = ORDERS) -> Candidate:
    """Ask about the usual window."""
    return Candidate(sample=measured(second, job=job), options=OPTIONS, window_from=at(second) - WINDOW)


def test_a_full_window_is_evaluated() -> None:
    """A rate is the difference of counters over the window."""
    answer = evaluator().evaluate([asked(300)], at(300))[ORDERS]
    assert isinstance(answer, EvaluatedMetrics)
    assert answer.vertices[SOURCE].metrics[ScalingMetric.TARGET_DATA_RATE] == 100.0
    assert answer.samples == 31


def test_samples_before_the_window_do_not_count() -> None:
    """A change of load before the window's begin is not in its rate."""
    seen = InProcessEvaluator(collect_interval=timedelta(seconds=10), keep=2 * WINDOW)
    for second in range(0, 601, 10):
        base = measured(second, rate=100.0 if second < 300 else 400.0)
        seen.append([base if second < 300 else shifted(base, second)])
    answer = seen.evaluate([asked(600)], at(600))[ORDERS]
    assert isinstance(answer, EvaluatedMetrics)
    assert answer.vertices[SOURCE].metrics[ScalingMetric.TARGET_DATA_RATE] == 400.0


def shifted(base: JobSample, second: int) -> JobSample:
    """Let the source have read 100/s for five minutes and 400/s since."""
    values = dict(base.vertices[SOURCE].values)
    values[Measure.NUM_RECORDS_IN] = 100.0 * 300 + 400.0 * (second - 300)
    return replace(base, vertices={SOURCE: replace(base.vertices[SOURCE], values=values)})


def test_samples_that_are_too_old_are_dropped() -> None:
    """Memory is bounded by what is to be kept, whatever is asked."""
    seen = evaluator(until=3600)
    vertices, jobs = seen._kept
    assert (len(vertices.owner), len(jobs.owner)) == (31, 31)


def test_a_tick_appended_again_replaces_itself() -> None:
    """A repeated tick is not counted twice."""
    seen = evaluator()
    seen.append([measured(300)])
    answer = seen.evaluate([asked(300)], at(300))[ORDERS]
    assert isinstance(answer, EvaluatedMetrics)
    assert answer.samples == 31


def test_an_unknown_job_has_no_samples() -> None:
    """Other jobs' samples are not taken for its own."""
    other = JobKey("prod", "other")
    answers = evaluator().evaluate([asked(300, job=other), asked(300)], at(300))
    refused = answers[other]
    assert isinstance(refused, NotReady)
    assert refused.reason is Reason.NO_SAMPLES
    assert list(answers) == [other, ORDERS]


def test_nothing_seen_and_nothing_asked_are_no_errors() -> None:
    """The first cycle may come before the first sample."""
    fresh = InProcessEvaluator(collect_interval=timedelta(seconds=10), keep=WINDOW)
    fresh.append([])
    assert fresh.evaluate([], at(0)) == {}
    assert isinstance(fresh.evaluate([asked(0)], at(0))[ORDERS], NotReady)


def test_every_measure_comes_back_for_evaluators_of_ones_own() -> None:
    """Also those that no formula of the fleet reads, and those that are infinite."""
    values = {measure: float(number) for number, measure in enumerate(Measure, start=1)}
    values[Measure.ROW_COST_ERROR] = inf
    made = sample(LONE, tick=at(10))
    made = replace(made, vertices={SOURCE: VertexSample(measured_at=made.at, values=values)})
    seen = InProcessEvaluator(collect_interval=timedelta(seconds=10), keep=WINDOW)
    seen.append([made])
    candidate = Candidate(sample=made, options=OPTIONS, window_from=at(0))
    (back,) = seen.samples([candidate])[ORDERS]
    assert back.vertices == made.vertices


def test_a_sample_that_comes_while_a_cycle_is_under_way_does_not_count() -> None:
    """The cycle goes by the job's latest sample as it began with it, whenever the evaluation gets to read."""
    seen = InProcessEvaluator(collect_interval=timedelta(seconds=10), keep=2 * WINDOW)
    for second in range(0, 301, 10):
        seen.append([measured(second)])
    before = dict(seen.evaluate([asked(300)], at(305)))
    seen.append([measured(304, rate=999.0)])

    assert dict(seen.evaluate([asked(300)], at(305))) == before
