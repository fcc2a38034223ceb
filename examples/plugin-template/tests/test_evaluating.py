"""Evaluator and evaluator plugin keep Headgate's contracts, and do what they are for."""

from __future__ import annotations

from datetime import timedelta

import pytest
from headgate.model.metrics import EvaluatedMetrics, ScalingMetric
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import VertexQuestion
from headgate.testing.conformance import material
from headgate.testing.conformance.evaluator_plugin import EvaluatorPluginSuite
from headgate.testing.conformance.metric_evaluator import MetricEvaluatorSuite

from headgate_mill.evaluator import KnownCapacityEvaluator
from headgate_mill.peak import DailyPeak


class TestKnownCapacityEvaluator(MetricEvaluatorSuite):
    """The contract."""

    @pytest.fixture
    def evaluator(self) -> KnownCapacityEvaluator:
        """Know that a subtask does 500 records/s."""
        return KnownCapacityEvaluator({"capacity": "500"})


class TestDailyPeak(EvaluatorPluginSuite):
    """The contract."""

    @pytest.fixture
    def plugin(self) -> DailyPeak:
        """Expect half as much again at any hour."""
        return DailyPeak({"factor": "1.5"})

    def test_the_peak_raises_the_target_rate(self, plugin: DailyPeak, question: VertexQuestion) -> None:
        """Within its hours, and not outside of them."""
        rate = question.metrics[ScalingMetric.TARGET_DATA_RATE]
        assert plugin.override(AutoscalerOptions(), question) == {ScalingMetric.TARGET_DATA_RATE: rate * 1.5}
        evening = DailyPeak({"from": "18", "to": "20"})
        assert evening.override(AutoscalerOptions(), question) == {}


def test_a_vertex_needs_what_it_reads() -> None:
    """At 400 records/s and 70 % of 500: more than one subtask, less than two."""
    evaluator = KnownCapacityEvaluator({"capacity": "500"})
    answer = evaluator.evaluate(AutoscalerOptions(), material.watched(rate=400.0), timedelta())
    assert isinstance(answer, EvaluatedMetrics)
    assert answer.vertices[material.SOURCE].needed_capacity == pytest.approx(400 / 0.7)
    assert answer.vertices[material.SOURCE].outside


@pytest.mark.parametrize("parameters", [{}, {"capacity": "0"}, {"capacity": "much"}])
def test_a_capacity_is_needed(parameters: dict[str, str]) -> None:
    """Without one there is nothing to go by."""
    with pytest.raises(ValueError, match=r"capacity|much"):
        KnownCapacityEvaluator(parameters)
