"""The suites notice: an implementation that breaks a rule fails the test of that rule."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.conformance.simulated_stage import SimulatedStage

from headgate.engines.simulated.collector import SimulatedMetricCollector
from headgate.engines.simulated.jobs import SimulatedJobListFetcher
from headgate.engines.simulated.realizer import SimulatedScalingRealizer
from headgate.errors import HeadgateError
from headgate.model.decision import Decision
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import Measure
from headgate.model.metrics import EvaluatedMetrics, NotReady, ScalingMetric
from headgate.model.samples import JobSample
from headgate.options.autoscaler import AutoscalerOptions
from headgate.pipeline.in_process import InProcessEvaluator
from headgate.pipeline.single import BuiltInMetricEvaluator
from headgate.ports import Candidate, Change, CollectedMetrics, JobContext, JobList, VertexQuestion
from headgate.testing.builders import context
from headgate.testing.conformance import fleet_evaluator, material
from headgate.testing.conformance.decision_plugin import DecisionPluginSuite
from headgate.testing.conformance.error_checker import UnrecoverableErrorCheckerSuite
from headgate.testing.conformance.evaluator_plugin import EvaluatorPluginSuite
from headgate.testing.conformance.fleet_evaluator import FleetEvaluatorSuite
from headgate.testing.conformance.job_list import JobListFetcherSuite
from headgate.testing.conformance.metric_collector import MetricCollectorSuite
from headgate.testing.conformance.metric_evaluator import MetricEvaluatorSuite
from headgate.testing.conformance.scaling_realizer import ScalingRealizerSuite
from headgate.testing.conformance.sinks import SampleSinkSuite, Tick, tick_of

COLLECTOR, REALIZER, LIST = MetricCollectorSuite(), ScalingRealizerSuite(), JobListFetcherSuite()
NOTICED = (AssertionError, ValueError, pytest.fail.Exception)
QUESTION = VertexQuestion(
    vertex=material.topology().by_id[material.SOURCE],
    metrics=material.healthy().vertices[material.SOURCE].metrics,
    upstream={},
    collected=material.watched(),
)


class Repeating(SimulatedMetricCollector):
    """Gives the same values again as if they were news."""

    async def update_metrics(self, ctx: JobContext, at: datetime, /) -> JobSample:
        """Forget first."""
        self.forget(ctx.key)
        return await super().update_metrics(ctx, at)


class SayingNan(SimulatedMetricCollector):
    """Says NaN for what it does not know."""

    async def update_metrics(self, ctx: JobContext, at: datetime, /) -> JobSample:
        """Put one in."""
        sample = await super().update_metrics(ctx, at)
        odd = {vertex: replace(one, values={Measure.LAG: math.nan}) for vertex, one in sample.vertices.items()}
        return replace(sample, vertices=odd)


class Sampling(SimulatedMetricCollector):
    """Uses up what is new when only the graph is asked for."""

    async def query_topology(self, ctx: JobContext, /) -> Any:
        """Take a sample."""
        return (await self.update_metrics(ctx, material.NOW)).topology


class Insistent(SimulatedScalingRealizer):
    """Claims to have sent something each time."""

    async def realize_parallelism_overrides(self, ctx: JobContext, overrides: Mapping[VertexId, int], /) -> bool:
        """Say yes."""
        await super().realize_parallelism_overrides(ctx, overrides)
        return True


class Deaf(SimulatedScalingRealizer):
    """Takes every failure for nothing to do."""

    async def realize_parallelism_overrides(self, ctx: JobContext, overrides: Mapping[VertexId, int], /) -> bool:
        """Say no."""
        try:
            return await super().realize_parallelism_overrides(ctx, overrides)
        except HeadgateError:
            return False


class Careless(SimulatedJobListFetcher):
    """What it cannot see is not there."""

    async def fetch(self) -> JobList:
        """Drop the failures."""
        return replace(await super().fetch(), failures={})


class Forgetful(SimulatedJobListFetcher):
    """Gives each job a new key each time."""

    numbers = itertools.count()

    async def fetch(self) -> JobList:
        """Count."""
        listed = await super().fetch()
        renamed = (replace(job, key=JobKey(job.key.cluster, f"job {next(self.numbers)}")) for job in listed.jobs)
        return replace(listed, jobs=tuple(renamed))


def staged(**parts: Callable[[SimulatedStage], Any]) -> SimulatedStage:
    """Set a stage with faulty parts."""
    stage = SimulatedStage()
    for name, make in parts.items():
        setattr(stage, name, make(stage))
    return stage


@pytest.mark.parametrize(
    ("make", "test"),
    [
        (Repeating, COLLECTOR.test_a_vertex_without_news_is_left_out),
        (SayingNan, COLLECTOR.test_only_vertices_of_the_graph_are_measured),
        (SayingNan, COLLECTOR.test_a_sample_travels_to_another_process),
        (Sampling, COLLECTOR.test_looking_at_the_graph_takes_no_sample),
    ],
)
async def test_faulty_collectors_are_noticed(make: Any, test: Any) -> None:
    """A healthy one passes the same test."""
    await test(SimulatedStage())
    with pytest.raises(NOTICED):
        await test(staged(collector=lambda stage: make(stage.cluster)))


@pytest.mark.parametrize(
    ("make", "test"),
    [
        (Insistent, REALIZER.test_asking_again_sends_nothing),
        (Insistent, REALIZER.test_what_the_job_has_already_is_not_asked_for),
        (Deaf, REALIZER.test_a_job_that_is_gone_is_not_found),
        (Deaf, REALIZER.test_an_engine_without_answers_is_a_fault_that_passes),
        (Deaf, REALIZER.test_what_the_engine_will_not_do_is_refused),
    ],
)
async def test_faulty_realizers_are_noticed(make: Any, test: Any) -> None:
    """A healthy one passes the same test."""
    await test(SimulatedStage())
    with pytest.raises(NOTICED):
        await test(staged(realizer=lambda stage: make(stage.cluster)))


@pytest.mark.parametrize(
    ("make", "test"),
    [
        (Careless, LIST.test_a_cluster_without_answers_is_a_failure_in_the_list),
        (Forgetful, LIST.test_the_same_jobs_are_listed_the_same),
    ],
)
async def test_faulty_job_lists_are_noticed(make: Any, test: Any) -> None:
    """A healthy one passes the same test."""
    await test(SimulatedStage())
    with pytest.raises(NOTICED):
        await test(staged(fetcher=lambda stage: make(stage.cluster, lambda _: AutoscalerOptions())))


class Counting(BuiltInMetricEvaluator):
    """Counts how often it was asked, and answers by that."""

    def __init__(self) -> None:
        """Begin at 0."""
        super().__init__({})
        self.calls = 0

    def evaluate(
        self, conf: AutoscalerOptions, collected: CollectedMetrics, restart_time: timedelta, /
    ) -> EvaluatedMetrics | NotReady:
        """Answer by the number of calls."""
        self.calls += 1
        answer = super().evaluate(conf, collected, restart_time)
        return replace(answer, samples=self.calls) if isinstance(answer, EvaluatedMetrics) else answer


def test_an_evaluator_with_a_memory_is_noticed() -> None:
    """The same question must have the same answer."""
    with pytest.raises(NOTICED):
        MetricEvaluatorSuite().test_the_same_question_has_the_same_answer(Counting(), material.watched())


class Useless:
    """An evaluator plugin, decision plugin and checker that do what none of them may."""

    priority = 0

    def override(self, _: AutoscalerOptions, question: VertexQuestion, /) -> Mapping[ScalingMetric, Any]:
        """Give a text where a number belongs."""
        return {ScalingMetric.LAG: str(question.vertex.id)}

    def decide(self, _: JobContext, decision: Decision, change: Change, /) -> Change | None:
        """Make a vertex up."""
        return replace(change, parallelism={VertexId(decision.id): 0})

    def check(self, _: JobContext, __: EvaluatedMetrics | None, /) -> bool:
        """Call everything lost."""
        return True


def test_useless_plugins_are_noticed() -> None:
    """Each by the test of what it must not do."""
    made = (context(), *material.rescale())
    with pytest.raises(NOTICED):
        EvaluatorPluginSuite().test_it_replaces_metrics_by_numbers(Useless(), QUESTION)
    with pytest.raises(NOTICED):
        EvaluatorPluginSuite().test_its_answer_travels_to_another_process(Useless(), QUESTION)
    with pytest.raises(NOTICED):
        DecisionPluginSuite().test_it_gives_a_change_of_the_job(Useless(), made)
    with pytest.raises(NOTICED):
        UnrecoverableErrorCheckerSuite().test_a_healthy_job_is_left_alone(Useless())


class Relative(InProcessEvaluator):
    """Answers for a job by who else is asked about."""

    def evaluate(
        self, candidates: Sequence[Candidate], now: datetime, /
    ) -> Mapping[JobKey, EvaluatedMetrics | NotReady]:
        """Let the size of the batch count."""
        answers = super().evaluate(candidates, now)
        return {
            job: replace(answer, samples=len(candidates)) if isinstance(answer, EvaluatedMetrics) else answer
            for job, answer in answers.items()
        }


def test_an_evaluator_that_looks_at_the_batch_is_noticed() -> None:
    """A job alone must be evaluated as among others."""
    relative = Relative(collect_interval=timedelta(seconds=material.TICK_S), keep=fleet_evaluator.WINDOW)
    for tick in fleet_evaluator.FLEET:
        relative.append(tick)
    together = relative.evaluate(fleet_evaluator.CANDIDATES, material.NOW)
    with pytest.raises(NOTICED):
        FleetEvaluatorSuite().test_the_batch_changes_nothing(relative, together)


def test_a_sink_that_keeps_a_tick_twice_is_noticed() -> None:
    """Nothing may count twice."""
    kept: list[Tick] = []

    class Doubling:
        """Keeps all it ever gets."""

        def append(self, samples: Sequence[JobSample], /) -> None:
            """Keep them."""
            kept.extend(map(tick_of, samples))

    with pytest.raises(NOTICED):
        SampleSinkSuite().test_a_tick_again_replaces_the_first(Doubling(), lambda: kept)
