"""From samples to the parallelism that the HPA would have, through the rest of the pipeline."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from headgate.algorithm.decide import decide
from headgate.algorithm.explain import explain
from headgate.algorithm.hpa.evaluation import evaluate
from headgate.algorithm.hpa.settings import Scope, Settings
from headgate.algorithm.obligation import owed_by
from headgate.control.redeployment import Redeployment
from headgate.model.decision import Outcome
from headgate.model.identity import VertexId
from headgate.model.measures import JobMeasure, Measure
from headgate.model.metrics import EvaluatedMetrics, JobMetric, NotReady, ScalingMetric
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample, VertexSample
from headgate.model.state import UNSEEN
from headgate.model.topology import Edge, Topology, Vertex
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.sla import SlaOptions
from headgate.plugins.soundness import sound_metrics
from headgate.testing.builders import START, at, chain, context, sample

SOURCE, WORK = VertexId("source"), VertexId("work")
TICK_S, TICKS = 10, 91
OPTIONS = AutoscalerOptions(
    scale_down_interval=timedelta(), scale_down_max_factor=1.0, alignment_mode="OFF", backlog_lag_threshold=timedelta()
)
"""With HPA's own windows alone."""
SETTINGS = Settings(lag_minimum=1000)

Loads = Mapping[VertexId, float]
"""Utilization by vertex."""


@dataclass(frozen=True, kw_only=True)
class Story:
    """Fifteen minutes of a job: every source reads the rate, and its lag begins at one number and grows by another."""

    topology: Topology
    loads: Loads
    rate: float = 100.0
    lag: float = 0.0
    growth: float = 0.0
    later: Loads = field(default_factory=dict)
    """Utilization from the turn on, where it is another one."""
    turn_s: float = math.inf

    @property
    def samples(self) -> list[JobSample]:
        """The job's samples, one every ten seconds."""
        plain = sample(self.topology, running_since=START - timedelta(hours=1))
        seconds = range(0, TICKS * TICK_S, TICK_S)
        return [replace(plain, at=at(second), vertices=self._vertices(second)) for second in seconds]

    def _vertices(self, second: float) -> Mapping[VertexId, VertexSample]:
        measured = {vertex: self._values(vertex, second) for vertex in self.topology.by_id}
        return {vertex: VertexSample(measured_at=at(second), values=values) for vertex, values in measured.items()}

    def _values(self, vertex: VertexId, second: float) -> Mapping[Measure, float]:
        before, after = self.loads[vertex], self.later.get(vertex, self.loads[vertex])
        turned = max(0.0, second - self.turn_s)
        idle_s = (1 - before) * (second - turned) + (1 - after) * turned
        values = {
            Measure.NUM_RECORDS_IN: self.rate * second,
            Measure.ACCUMULATED_IDLE_TIME: 1000 * idle_s * self.topology.parallelism[vertex],
        }
        lag = self.lag + self.growth * second
        return {**values, Measure.LAG: lag} if self.topology.is_source(vertex) and not math.isnan(lag) else values


def watched(topology: Topology, loads: Loads, **rest: Any) -> list[JobSample]:
    """Give the samples of a story."""
    return Story(topology=topology, loads=loads, **rest).samples


def changed(
    samples: Sequence[JobSample], change: Callable[[int, VertexId, VertexSample], VertexSample | None]
) -> list[JobSample]:
    """Give the samples with each vertex' changed, by the number of the sample; None takes it away."""
    return [
        replace(
            each,
            vertices={vertex: kept for vertex, seen in each.vertices.items() if (kept := change(number, vertex, seen))},
        )
        for number, each in enumerate(samples)
    ]


def with_value(seen: VertexSample, measure: Measure, value: float) -> VertexSample:
    """Give a vertex' sample with another value."""
    return replace(seen, values={**seen.values, measure: value})


def without(seen: VertexSample, measure: Measure) -> VertexSample:
    """Give a vertex' sample that lacks a value."""
    return replace(seen, values={name: value for name, value in seen.values.items() if name is not measure})


def wanted(topology: Topology, samples: Sequence[JobSample], settings: Settings = SETTINGS) -> Mapping[str, int]:
    """Decide, and give the parallelism of every vertex."""
    found = evaluate(topology, samples, OPTIONS, settings)
    decision = decide(samples[-1], sound_metrics(found, topology), OPTIONS, samples[-1].at)
    return {proposal.name: proposal.wanted for proposal in decision.proposals}


PIPE = chain({SOURCE: 4, WORK: 4})
BUSY = {SOURCE: 0.7, WORK: 0.7}


def test_a_growing_lag_makes_the_whole_job_grow() -> None:
    """Half as much again comes as is read: four become six, whatever the utilization is."""
    samples = watched(PIPE, {SOURCE: 0.9, WORK: 0.1}, lag=5000.0, growth=50.0)
    assert wanted(PIPE, samples) == {"source": 6, "work": 6}


def test_an_idle_job_shrinks_by_its_mean_utilization() -> None:
    """0.5 and 0.2 are 0.35 on average, half of the target."""
    assert wanted(PIPE, watched(PIPE, {SOURCE: 0.5, WORK: 0.2})) == {"source": 2, "work": 2}


def test_every_subtask_counts_alike() -> None:
    """One subtask at 0.7 and seven at 0.3 are 0.35 on average, not 0.5."""
    topology = chain({SOURCE: 1, WORK: 7})
    assert wanted(topology, watched(topology, {SOURCE: 0.7, WORK: 0.3})) == {"source": 1, "work": 4}


def test_by_vertex_each_goes_by_its_own_utilization() -> None:
    """Each of both is right at its own place."""
    samples = watched(PIPE, {SOURCE: 0.35, WORK: 1.0})
    assert wanted(PIPE, samples, replace(SETTINGS, scope=Scope.VERTEX)) == {"source": 2, "work": 6}


def test_by_vertex_a_backlog_is_answered_behind_its_source_only() -> None:
    """Two pipes in one job: the lag of one makes its own vertices grow."""
    names = [VertexId(name) for name in ("s1", "w1", "s2", "w2")]
    topology = Topology(
        vertices=tuple(Vertex(id=name, name=name, parallelism=4, max_parallelism=128) for name in names),
        edges=(Edge(source=names[0], target=names[1]), Edge(source=names[2], target=names[3])),
    )
    samples = changed(
        watched(topology, dict.fromkeys(names, 0.7), lag=5000.0, growth=100.0),
        lambda _, vertex, seen: with_value(seen, Measure.LAG, 0.0) if vertex == names[2] else seen,
    )
    assert wanted(topology, samples, replace(SETTINGS, scope=Scope.VERTEX)) == {"s1": 8, "w1": 8, "s2": 4, "w2": 4}
    assert wanted(topology, samples) == {"s1": 6, "w1": 6, "s2": 6, "w2": 6}


def test_a_finished_vertex_has_no_part_in_it() -> None:
    """It is idle for good, and stays as it is."""
    finished = tuple(replace(v, finished=v.id == SOURCE) for v in PIPE.vertices)
    topology = replace(PIPE, vertices=finished)
    samples = [replace(each, topology=topology) for each in watched(PIPE, {SOURCE: 0.0, WORK: 1.0})]
    found = evaluate(topology, samples, OPTIONS, replace(SETTINGS, scope=Scope.VERTEX))
    assert isinstance(found, EvaluatedMetrics)
    assert list(found.vertices) == [WORK]
    assert wanted(topology, samples, replace(SETTINGS, scope=Scope.VERTEX)) == {"source": 4, "work": 6}


def test_nothing_is_decided_until_a_window_lies_behind_the_last_start() -> None:
    """The gate: at 50 s after the restart not yet, at 60 s by the window since then."""
    samples = watched(PIPE, {SOURCE: 1.0, WORK: 1.0})
    for seconds, ready in ((50, False), (60, True)):
        restarted = [replace(each, running_since=samples[-1].at - timedelta(seconds=seconds)) for each in samples]
        found = evaluate(PIPE, restarted, OPTIONS, SETTINGS)
        assert isinstance(found, EvaluatedMetrics) == ready
        if isinstance(found, NotReady):
            assert found.reason is Reason.WINDOW_FILLING
            assert "do not span a window of 1 min since the job last began to run" in found.message


def test_a_counter_that_began_anew_is_no_negative_growth() -> None:
    """Idle time restarts at 0 with a new epoch: the utilization stays what it is."""

    def restarted(number: int, _: VertexId, seen: VertexSample) -> VertexSample:
        begin = TICKS - 3
        if number < begin:
            return seen
        return replace(with_value(seen, Measure.ACCUMULATED_IDLE_TIME, 12000.0 * (number - begin)), epoch=1)

    assert wanted(PIPE, changed(watched(PIPE, BUSY), restarted)) == {"source": 4, "work": 4}


def test_samples_that_lack_a_vertex_now_and_then_are_no_hole_in_its_counters() -> None:
    """What was counted meanwhile is known at the next sample."""
    gappy = changed(
        watched(PIPE, {SOURCE: 0.35, WORK: 0.35}),
        lambda number, vertex, seen: None if vertex == WORK and number % 2 else seen,
    )
    assert wanted(PIPE, gappy) == {"source": 2, "work": 2}


def test_without_lag_an_idle_job_stays() -> None:
    """The HPA's rule of a missing metric, and the words for it."""
    samples = watched(PIPE, {SOURCE: 0.2, WORK: 0.2}, lag=math.nan)
    found = evaluate(PIPE, samples, OPTIONS, SETTINGS)
    assert isinstance(found, EvaluatedMetrics)
    assert "lag change is missing" in found.vertices[WORK].basis
    assert "with a metric missing nothing shrinks: 4" in found.vertices[WORK].basis
    assert wanted(PIPE, samples) == {"source": 4, "work": 4}


def test_without_any_metric_the_job_is_not_ready() -> None:
    """Neither lag nor idle time."""
    bare = changed(watched(PIPE, BUSY), lambda _, __, seen: replace(seen, values={}))
    found = evaluate(PIPE, bare, OPTIONS, SETTINGS)
    assert isinstance(found, NotReady)
    assert found.reason is Reason.MISSING_METRICS


def test_its_numbers_are_told() -> None:
    """Rates that a factor is a ratio of, the mean load, the backlog, memory as everywhere."""
    samples = [
        replace(each, values={JobMeasure.HEAP_MAX_USAGE_RATIO: 0.5 + 0.2 * (number % 2)})
        for number, each in enumerate(watched(PIPE, {SOURCE: 0.6, WORK: 0.4}, lag=5000.0, growth=50.0)[:-1])
    ]
    found = evaluate(PIPE, samples, OPTIONS, SETTINGS)
    assert isinstance(found, EvaluatedMetrics)
    source = found.vertices[SOURCE]
    assert source.metrics[ScalingMetric.LOAD] == pytest.approx(0.5)
    assert source.metrics[ScalingMetric.TRUE_PROCESSING_RATE] == pytest.approx(100 / 0.6)
    assert source.metrics[ScalingMetric.TARGET_DATA_RATE] == pytest.approx(150)
    assert source.metrics[ScalingMetric.LAG] == samples[-1].vertices[SOURCE].values[Measure.LAG]
    assert ScalingMetric.LAG not in found.vertices[WORK].metrics
    assert source.needed_capacity == pytest.approx(250)
    assert found.backlog
    assert found.samples == TICKS - 1
    assert found.coverage == pytest.approx(0.99, abs=0.01)
    heap = found.job[JobMetric.HEAP_MAX_USAGE_RATIO]
    assert heap.current == 0.7
    assert heap.average == pytest.approx(0.6)
    assert JobMetric.GC_PRESSURE not in found.job


FAN = Topology(
    vertices=tuple(Vertex(id=VertexId(name), name=name, parallelism=4, max_parallelism=128) for name in ("a", "b", "c"))
    + PIPE.vertices[1:],
    edges=tuple(Edge(source=VertexId(name), target=WORK) for name in ("a", "b", "c")),
)
"""Three sources in front of one vertex."""
SOURCES = (VertexId("a"), VertexId("b"), VertexId("c"))


@pytest.mark.parametrize("scope", Scope)
def test_each_vertex_is_told_its_own_rates(scope: Scope) -> None:
    """Three sources of 100/s with lags of 3000: each is 30 s behind, the vertex behind them has all of it."""
    samples = changed(
        watched(FAN, {**dict.fromkeys(SOURCES, 0.5), WORK: 0.8}, lag=3000.0),
        lambda _, vertex, seen: (
            seen
            if vertex != WORK
            else with_value(seen, Measure.NUM_RECORDS_IN, 3 * seen.values[Measure.NUM_RECORDS_IN])
        ),
    )
    found = sound_metrics(evaluate(FAN, samples, OPTIONS, replace(SETTINGS, scope=scope)), FAN)
    assert isinstance(found, EvaluatedMetrics)
    told = {vertex: known.metrics for vertex, known in found.vertices.items()}
    assert [told[each][ScalingMetric.TARGET_DATA_RATE] for each in (*SOURCES, WORK)] == [100, 100, 100, 300]
    assert told[SOURCES[0]][ScalingMetric.TRUE_PROCESSING_RATE] == pytest.approx(200)
    assert told[WORK][ScalingMetric.TRUE_PROCESSING_RATE] == pytest.approx(375)
    agreed = replace(OPTIONS, sla=SlaOptions(max_lag_time=timedelta(minutes=5)))
    owed = owed_by(FAN, found, agreed, samples[-1].at)
    assert owed
    assert owed.lag_time_s == pytest.approx(30)
    assert owed.loads[WORK].lag == pytest.approx(9000)


def test_more_comes_behind_a_source_whose_lag_grows() -> None:
    """Half of its records go on, and half of what waits will; a vertex that does not tell what it reads gets all."""
    half = changed(
        watched(PIPE, BUSY, lag=5000.0, growth=50.0),
        lambda _, vertex, seen: (
            seen
            if vertex == SOURCE
            else with_value(seen, Measure.NUM_RECORDS_IN, 0.5 * seen.values[Measure.NUM_RECORDS_IN])
        ),
    )
    silent = changed(half, lambda _, vertex, seen: seen if vertex == SOURCE else without(seen, Measure.NUM_RECORDS_IN))
    for samples, comes in ((half, 75), (silent, 150)):
        found = evaluate(PIPE, samples, OPTIONS, SETTINGS)
        assert isinstance(found, EvaluatedMetrics)
        assert found.vertices[SOURCE].metrics[ScalingMetric.TARGET_DATA_RATE] == pytest.approx(150)
        assert found.vertices[WORK].metrics[ScalingMetric.TARGET_DATA_RATE] == pytest.approx(comes)


def test_without_idle_time_no_true_rate_is_made_up() -> None:
    """The lag still makes the job grow, with the reason told; of how much it can do nothing is said."""
    samples = changed(
        watched(PIPE, BUSY, lag=5000.0, growth=50.0),
        lambda _, __, seen: without(seen, Measure.ACCUMULATED_IDLE_TIME),
    )
    found = sound_metrics(evaluate(PIPE, samples, OPTIONS, SETTINGS), PIPE)
    assert isinstance(found, EvaluatedMetrics)
    assert ScalingMetric.TRUE_PROCESSING_RATE not in found.vertices[SOURCE].metrics
    decision = decide(samples[-1], found, OPTIONS, samples[-1].at)
    assert {proposal.wanted for proposal in decision.proposals} == {6}
    assert "utilization is missing" in decision.message


def test_a_job_without_any_load_shrinks_to_one() -> None:
    """What it could do is not known, that it is too large is."""
    assert wanted(PIPE, watched(PIPE, {SOURCE: 0.0, WORK: 0.0}, rate=0.0)) == {"source": 1, "work": 1}


def test_behind_a_hole_nothing_is_decided_by_a_few_samples() -> None:
    """
    Two minutes of samples, six of none, two samples of an idle job: as without the hole, nothing shrinks on that.

    Not before the window of stabilization has been sampled anew; without the hole it would be over.
    """
    idle = watched(PIPE, {SOURCE: 0.1, WORK: 0.1})
    holey = [each for each in idle if not at(120) < each.at < at(480)]
    few = [each for each in holey if each.at <= at(490)]
    found = evaluate(PIPE, few, OPTIONS, SETTINGS)
    assert isinstance(found, NotReady)
    assert found.reason is Reason.WINDOW_FILLING
    for samples, replicas in ((holey, 1), (holey[:-15], 4), (idle[:-15], 1)):
        assert wanted(PIPE, samples) == {"source": replicas, "work": replicas}


def test_an_explanation_has_the_numbers_of_the_hpa() -> None:
    """Both metrics, which one won, the tolerance; of a decision that changes something and of one that does not."""
    growing = watched(PIPE, {SOURCE: 0.9, WORK: 0.1}, lag=5000.0, growth=50.0)
    found = evaluate(PIPE, growing, OPTIONS, SETTINGS)
    decision = decide(growing[-1], found, OPTIONS, growing[-1].at)
    assert decision.outcome is Outcome.RESCALE
    text = "\n".join(explain(decision))
    assert "lag change 1.5 of 1 (lag 48500, minimum 1000) wants 6" in text
    assert "utilization 0.5 of 0.7 wants 3, tolerance +0.1 -0.1; lag change wins with 6" in text

    samples = watched(PIPE, BUSY)
    decision = decide(samples[-1], evaluate(PIPE, samples, OPTIONS, SETTINGS), OPTIONS, samples[-1].at)
    assert decision.outcome is Outcome.KEEP
    assert not [proposal for proposal in decision.proposals if proposal.outside]
    assert "lag change has no say (lag 0, minimum 1000), utilization 0.7 of 0.7 wants 4" in "\n".join(explain(decision))


def test_what_stabilization_holds_is_told() -> None:
    """Thirteen minutes at the target, then two at a seventh of it: four stay, for what was recommended before."""
    turned = watched(PIPE, BUSY, later={SOURCE: 0.1, WORK: 0.1}, turn_s=780.0)
    found = evaluate(PIPE, turned, OPTIONS, SETTINGS)
    assert isinstance(found, EvaluatedMetrics)
    assert found.vertices[WORK].basis.endswith("utilization wins with 1, stabilization over 300 s holds 4")
    assert wanted(PIPE, turned) == {"source": 4, "work": 4}
    assert wanted(PIPE, watched(PIPE, BUSY, later={SOURCE: 0.1, WORK: 0.1}, turn_s=540.0)) == {"source": 1, "work": 1}


def test_a_job_that_is_replaced_gets_the_number_of_the_hpa() -> None:
    """One parallelism for the whole job, as in the paper."""
    samples = watched(PIPE, {SOURCE: 0.9, WORK: 0.1}, lag=5000.0, growth=50.0)
    latest = replace(samples[-1], settings=replace(samples[-1].settings, adaptive=False))
    decision = decide(latest, evaluate(PIPE, samples, OPTIONS, SETTINGS), OPTIONS, latest.at)
    redeployment = Redeployment(applies=lambda _: True)
    planned = redeployment.planned(context(), latest, UNSEEN, decision)
    redeploy = redeployment.of(context(), latest, UNSEEN, planned)
    assert redeploy
    assert redeploy.after.parallelism == 6
