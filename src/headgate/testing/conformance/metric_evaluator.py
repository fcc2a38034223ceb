"""
What every `MetricEvaluator` must do.

Use: subclass `MetricEvaluatorSuite` in a test file and define a fixture `evaluator`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import timedelta

import pytest

from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import CollectedMetrics, MetricEvaluator
from headgate.testing.conformance import material
from headgate.testing.conformance.travelling import answered, sent

RESTART = timedelta(minutes=1)
CONF = AutoscalerOptions(metrics_window=timedelta(minutes=5), stabilization_interval=timedelta())


class MetricEvaluatorSuite:
    """The contract of `headgate.ports.MetricEvaluator`, one behaviour a test."""

    @pytest.fixture
    def evaluator(self) -> MetricEvaluator:
        """Give the evaluator; every subclass has its own."""
        raise NotImplementedError

    @pytest.fixture
    def collected(self) -> CollectedMetrics:
        """Give a job that it can evaluate; override it where the plain one lacks what yours reads."""
        return material.watched()

    def test_a_watched_job_is_evaluated(self, evaluator: MetricEvaluator, collected: CollectedMetrics) -> None:
        """Metrics for vertices of the job's graph and no others."""
        answer = evaluator.evaluate(CONF, collected, RESTART)
        assert isinstance(answer, EvaluatedMetrics)
        assert answer.vertices
        assert answer.vertices.keys() <= collected.topology.by_id.keys()

    def test_what_is_unknown_is_absent(self, evaluator: MetricEvaluator, collected: CollectedMetrics) -> None:
        """No NaN stands for it; shares are 0 to 1, and limits of growth 1 at least."""
        answer = evaluator.evaluate(CONF, collected, RESTART)
        assert isinstance(answer, EvaluatedMetrics)
        assert not [number for number in _numbers(answer) if math.isnan(number)]
        assert 0 <= answer.coverage <= 1
        assert answer.samples >= 0
        assert all(limit >= 1 for one in answer.vertices.values() for limit in one.limits.values())

    def test_the_same_question_has_the_same_answer(
        self, evaluator: MetricEvaluator, collected: CollectedMetrics
    ) -> None:
        """Also after another job was evaluated: it keeps nothing, and time is what the samples say."""
        first = evaluator.evaluate(CONF, collected, RESTART)
        evaluator.evaluate(CONF, material.watched(rate=5.0, job=material.OTHER), RESTART)
        assert evaluator.evaluate(CONF, sent(collected), RESTART) == first

    def test_what_it_is_given_stays_as_it_was(self, evaluator: MetricEvaluator, collected: CollectedMetrics) -> None:
        """Values belong to everybody."""
        before = sent(collected)
        evaluator.evaluate(CONF, collected, RESTART)
        assert collected == before

    def test_its_answer_travels_to_another_process(
        self, evaluator: MetricEvaluator, collected: CollectedMetrics
    ) -> None:
        """Evaluators run in a worker process."""
        answer = evaluator.evaluate(CONF, collected, RESTART)
        assert answered(MetricEvaluator, "evaluate", answer) == answer

    @pytest.mark.parametrize("given", [material.just_started(), material.unmeasured()], ids=["one sample", "no value"])
    def test_not_enough_data_is_a_normal_answer(self, evaluator: MetricEvaluator, given: CollectedMetrics) -> None:
        """A job that just started, or of which nothing was measured, is no error."""
        answer = evaluator.evaluate(CONF, given, RESTART)
        assert isinstance(answer, EvaluatedMetrics | NotReady)
        if isinstance(answer, NotReady):
            assert answer.message


def _numbers(answer: EvaluatedMetrics) -> Iterable[float]:
    for one in answer.vertices.values():
        yield from one.metrics.values()
        yield from (number for number in (one.needed_capacity, one.factor) if number is not None)
    for value in answer.job.values():
        yield from (number for number in (value.current, value.average) if number is not None)
