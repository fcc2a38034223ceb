"""
What every `EvaluatorPlugin` must do.

Use: subclass `EvaluatorPluginSuite` in a test file and define a fixture `plugin`.
"""

from __future__ import annotations

import pytest

from headgate.model.metrics import ScalingMetric
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import EvaluatorPlugin, VertexQuestion
from headgate.testing.conformance import material
from headgate.testing.conformance.travelling import answered, sent

CONF = AutoscalerOptions()


class EvaluatorPluginSuite:
    """The contract of `headgate.ports.EvaluatorPlugin`, one behaviour a test."""

    @pytest.fixture
    def plugin(self) -> EvaluatorPlugin:
        """Give the plugin; every subclass has its own."""
        raise NotImplementedError

    @pytest.fixture
    def question(self) -> VertexQuestion:
        """Give a vertex of which it knows better; override it where the plain one is none."""
        watched, evaluated = material.watched(), material.healthy()
        return VertexQuestion(
            vertex=watched.topology.by_id[material.SOURCE],
            metrics=evaluated.vertices[material.SOURCE].metrics,
            upstream={},
            collected=watched,
        )

    def test_it_replaces_metrics_by_numbers(self, plugin: EvaluatorPlugin, question: VertexQuestion) -> None:
        """At least one of the vertex it knows; NaN would replace nothing."""
        replaced = plugin.override(CONF, question)
        assert replaced
        assert all(isinstance(metric, ScalingMetric) for metric in replaced)
        assert all(isinstance(value, float | int) for value in replaced.values())

    def test_the_same_question_has_the_same_answer(self, plugin: EvaluatorPlugin, question: VertexQuestion) -> None:
        """Time is what the samples say."""
        assert plugin.override(CONF, sent(question)) == plugin.override(CONF, question)

    def test_what_it_is_given_stays_as_it_was(self, plugin: EvaluatorPlugin, question: VertexQuestion) -> None:
        """Values belong to everybody, the plugins after it included."""
        before = sent(question)
        plugin.override(CONF, question)
        assert question == before

    @pytest.mark.parametrize("vertex", [material.SOURCE, material.WORK, material.SINK])
    def test_a_vertex_of_which_nothing_is_known_is_no_error(self, plugin: EvaluatorPlugin, vertex: str) -> None:
        """Nothing was measured: it may know something all the same, or nothing."""
        unknown = material.unmeasured()
        asked = VertexQuestion(
            vertex=next(one for one in unknown.topology.vertices if one.id == vertex),
            metrics={},
            upstream={one.id: {} for one in unknown.topology.vertices if one.id < vertex},
            collected=unknown,
        )
        assert all(isinstance(metric, ScalingMetric) for metric in plugin.override(CONF, asked))

    def test_its_answer_travels_to_another_process(self, plugin: EvaluatorPlugin, question: VertexQuestion) -> None:
        """Evaluator plugins run in a worker process."""
        answer = plugin.override(CONF, question)
        assert answered(EvaluatorPlugin, "override", answer) == answer
