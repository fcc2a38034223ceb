"""What is made of the samples of an application, one rule a test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.algorithm.decide import decide
from headgate.algorithm.micro_batch.application import Application
from headgate.algorithm.micro_batch.evaluate import evaluate
from headgate.model.decision import Decision, Outcome
from headgate.model.lag import LagOrigin
from headgate.model.measures import JobMeasure, Measure
from headgate.model.metrics import EvaluatedMetrics, NotReady, ScalingMetric
from headgate.model.reasons import Reason
from headgate.model.samples import VertexSample
from headgate.ports import CollectedMetrics
from headgate.testing.micro_batch_loop import spark_options
from headgate.testing.micro_batching import SimulatedQuery, watched_application

OPTIONS = replace(spark_options(), scale_down_interval=timedelta())
CALM = SimulatedQuery(load=lambda _: 100.0)
"""One core is enough for it."""


def metrics_of(collected: CollectedMetrics) -> EvaluatedMetrics:
    """Evaluate an application that can be."""
    answer = evaluate(collected.topology, collected.samples, OPTIONS)
    assert isinstance(answer, EvaluatedMetrics), answer
    return answer


def decided(collected: CollectedMetrics) -> Decision:
    """Decide for an application."""
    answer = evaluate(collected.topology, collected.samples, OPTIONS)
    return decide(collected.samples[-1], answer, OPTIONS, collected.samples[-1].at)


def told(collected: CollectedMetrics, values: Mapping[Measure, float]) -> CollectedMetrics:
    """Let every sample of the first stages tell other values."""

    def retold(sample: VertexSample) -> VertexSample:
        return replace(sample, values={**sample.values, **values}) if Measure.TASKS in sample.values else sample

    samples = tuple(
        replace(sample, vertices={vertex: retold(measured) for vertex, measured in sample.vertices.items()})
        for sample in collected.samples
    )
    return replace(collected, samples=samples)


def test_a_query_is_told_by_its_rates() -> None:
    """300 rows/s come, and two cores do 417/s at most: what 1700 ms hold of rows that take a millisecond of two."""
    metrics = metrics_of(watched_application()).vertices
    [known] = [each.metrics for each in metrics.values()]
    assert known[ScalingMetric.TARGET_DATA_RATE] == pytest.approx(300, rel=0.02)
    assert known[ScalingMetric.TRUE_PROCESSING_RATE] == pytest.approx(417, rel=0.05)
    assert known[ScalingMetric.NUM_SOURCE_PARTITIONS] == 8


def test_costs_that_are_not_told_apart_are_waited_for() -> None:
    """The answer names the query and the numbers so far."""
    unsure = told(watched_application(), {Measure.ROW_COST_ERROR: float("inf")})
    answer = evaluate(unsure.topology, unsure.samples, OPTIONS)
    assert isinstance(answer, NotReady)
    assert answer.reason is Reason.COST_UNKNOWN
    assert "orders" in answer.message


def test_more_cores_are_taken_only_if_the_cheap_end_asks_for_it() -> None:
    """360 rows/s on two cores: too many at 300 ms a batch outside of its tasks, not if that may be nothing."""
    busy = watched_application(SimulatedQuery(load=lambda _: 360.0, noise=0.0))
    assert decided(busy).proposals[0].wanted > 2
    assert decided(told(busy, {Measure.BATCH_OVERHEAD_ERROR: 300.0})).proposals[0].wanted == 2


def test_fewer_cores_are_taken_only_if_the_dear_end_allows_it() -> None:
    """100 rows/s on four cores: one is enough, unless a batch may take 1500 ms more outside of its tasks."""
    calm = watched_application(CALM, cores=4)
    assert decided(calm).proposals[0].wanted == 1
    assert decided(told(calm, {Measure.BATCH_OVERHEAD_ERROR: 1500.0})).proposals[0].wanted == 4


@pytest.mark.parametrize("origin", [LagOrigin.OFFSETS, LagOrigin.LISTING, LagOrigin.TRIGGER])
def test_known_lag_lets_it_shrink_and_says_where_it_is_from(origin: LagOrigin) -> None:
    """A listing and the triggers are named."""
    decision = decided(watched_application(replace(CALM, lag_origin=origin), cores=4))
    assert decision.proposals[0].wanted == 1
    assert {"listing": LagOrigin.LISTING, "triggers": LagOrigin.TRIGGER}.get(
        _word(decision), LagOrigin.OFFSETS
    ) is origin


def _word(decision: Decision) -> str:
    return next((word for word in ("listing", "triggers") if word in decision.message), "")


def test_unknown_lag_never_shrinks_the_application() -> None:
    """Though the other query could do with one core, too."""
    blind = replace(CALM, name="clicks", lag_origin=LagOrigin.UNKNOWN)
    decision = decided(watched_application(CALM, blind, cores=4))
    assert [proposal.wanted for proposal in decision.proposals] == [4, 4]


def test_a_limit_is_named_where_it_keeps_a_query_behind() -> None:
    """700 rows/s come, 500/s are allowed: more cores do not help, and it says what does."""
    decision = decided(watched_application(SimulatedQuery(load=lambda _: 700.0, limit=1000), cores=3, seconds=60))
    assert decision.proposals[0].wanted == 3
    assert decision.reason is Reason.LIMITED
    assert "maxOffsetsPerTrigger" in decision.message


def test_too_few_tasks_are_named() -> None:
    """Two tasks are two cores' work."""
    decision = decided(watched_application(SimulatedQuery(load=lambda _: 500.0, tasks=(2,)), cores=2, seconds=60))
    assert decision.reason is Reason.LIMITED
    assert decision.proposals[0].steps[-1].reason is Reason.BATCH_TASKS


def test_a_backlog_is_what_waits_beyond_the_next_batch() -> None:
    """Ten seconds of input behind: 1000 rows are ten seconds at 100/s, and nothing shrinks."""
    calm = watched_application(CALM, cores=4)
    assert not metrics_of(told(calm, {Measure.LAG: 900.0})).backlog
    behind = told(calm, {Measure.LAG: 1100.0})
    assert metrics_of(behind).backlog
    assert decided(behind).proposals[0].wanted == 4


def test_an_idle_query_needs_one_core() -> None:
    """Though nobody ever learnt what it costs."""
    application = watched_application(CALM, replace(CALM, name="idle"), cores=4)
    idle = {
        Measure.NUM_RECORDS_IN: 0.0,
        Measure.LAG: 0.0,
        Measure.LAG_ORIGIN: float(LagOrigin.OFFSETS),
        Measure.BATCH_DURATION: 0.0,
    }
    vertex = next(vertex.id for vertex in application.topology.vertices if vertex.name == "idle")
    samples = tuple(
        replace(sample, vertices={**sample.vertices, vertex: VertexSample(measured_at=sample.at, values=idle)})
        for sample in application.samples
    )
    assert [each.wanted for each in decided(replace(application, samples=samples)).proposals] == [1, 1]


def test_moving_state_is_weighed_against_the_cores_saved() -> None:
    """Three cores fewer for ten minutes are 1800 core-seconds: worth 2 s of four cores, not 10 minutes of them."""
    calm = watched_application(replace(CALM, state_bytes=10**9), cores=4)

    def lost(seconds: float) -> CollectedMetrics:
        latest = calm.samples[-1]
        values = {**latest.values, JobMeasure.LAST_DOWNTIME: seconds}
        return replace(calm, samples=(*calm.samples[:-1], replace(latest, values=values)))

    assert decided(lost(2.0)).outcome is Outcome.RESCALE
    kept = decided(lost(600.0))
    assert kept.outcome is Outcome.KEEP
    assert kept.reason is Reason.NOT_WORTH_RESTART


def test_a_query_without_an_interval_has_its_target_duration() -> None:
    """Ten seconds a batch: one core does 240 rows/s then, of which a trigger of two seconds leaves 205."""
    query = SimulatedQuery(load=lambda _: 150.0, interval_s=None, noise=0.0)
    [metrics] = metrics_of(watched_application(query, cores=1)).vertices.values()
    assert metrics.metrics[ScalingMetric.TRUE_PROCESSING_RATE] == pytest.approx(240, rel=0.08)


def test_nothing_is_decided_without_any_executor() -> None:
    """For an instant there may be none; the one core in the graph is not there then."""
    watched = watched_application(CALM)
    samples = (*watched.samples[:-1], replace(watched.samples[-1], slots_total=0))
    answer = evaluate(watched.topology, samples, OPTIONS)
    assert isinstance(answer, NotReady)
    assert answer.reason is Reason.MISSING_METRICS


def test_a_query_at_its_limit_holds_no_core_that_it_cannot_use() -> None:
    """Its batches are full at eight tasks on eight cores: sixteen do no better, and the limit is named."""
    full = watched_application(SimulatedQuery(load=lambda _: 750.0, limit=1000), cores=16)
    [proposal] = decided(full).proposals
    [told_of] = metrics_of(full).vertices.values()
    assert proposal.wanted < 16
    assert Reason.BATCH_LIMIT in told_of.limits


def test_overhead_is_no_load() -> None:
    """Nothing but planning fills the interval: no core makes that shorter, so none is kept for it."""
    planning = watched_application(SimulatedQuery(load=lambda _: 5.0, batch_ms=1500.0), cores=8)
    [known] = [each.metrics for each in metrics_of(planning).vertices.values()]
    assert known[ScalingMetric.LOAD] < 0.3


def test_a_millisecond_of_planning_decides_nothing() -> None:
    """Where a batch of no rows nearly fills its interval, what is wanted changes step by step."""
    watched = watched_application(SimulatedQuery(load=lambda _: 40.0, batch_ms=1700.0), cores=4)
    below, above = (told(watched, {Measure.BATCH_OVERHEAD: ms}) for ms in (1799.0, 1801.0))
    [low], [high] = (metrics_of(each).vertices.values() for each in (below, above))
    rate = ScalingMetric.TRUE_PROCESSING_RATE
    assert low.metrics[rate] == pytest.approx(high.metrics[rate], rel=0.1)


def test_waiting_for_others_is_no_reason_to_give_up_the_interval() -> None:
    """Of 2590 ms outside of its tasks a batch only plans for 100: it may take its two seconds, no more."""
    queries = [SimulatedQuery(name=name, load=lambda _: 150.0) for name in ("a", "b", "c")]
    waiting = {Measure.BATCH_OVERHEAD: 2590.0, Measure.BATCH_PLANNING: 100.0}
    watched = told(watched_application(*queries, cores=1, seconds=120), waiting)
    application = Application(watched.topology, watched.samples, OPTIONS)
    assert list(application.pace.period_ms) == [2000.0] * 3
    assert application.need.wanted > 1
