"""Evaluator plugins between the levels of an evaluation of one job: each sees what those before it have replaced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import isnan

from headgate.algorithm.batch import Batch, Evaluation
from headgate.algorithm.evaluate import evaluate
from headgate.algorithm.override import evaluate_with
from headgate.errors import PluginError
from headgate.model.identity import VertexId
from headgate.model.metrics import ScalingMetric
from headgate.pipeline.evaluation import Question
from headgate.plugins.ready import Plugin
from headgate.plugins.soundness import sound_overrides
from headgate.ports import Candidate, CollectedMetrics, VertexQuestion

Known = Mapping[ScalingMetric, float]


@dataclass(kw_only=True)
class Overriding:
    """A chain of plugins for one evaluation. After the first failure nobody is asked any more."""

    chain: tuple[Plugin, ...]
    candidate: Candidate
    collected: CollectedMetrics
    failure: tuple[Plugin, PluginError] | None = None
    _upstream: dict[VertexId, Known] = field(default_factory=dict)

    def hooked_into(self, question: Question) -> Question:
        """Give the question with these plugins asked on the way."""
        return replace(question, formula=self._formula) if self.chain else question

    def _formula(self, batch: Batch) -> Evaluation:
        # Where only the length of an array matters, as for an empty window, there is nothing to replace either.
        return evaluate_with(batch, self._override) if len(batch.job) else evaluate(batch)

    def _override(self, row: int, evaluated: Known) -> Known:
        topology = self.candidate.sample.topology
        vertex = topology.vertices[row]
        known = {metric: value for metric, value in evaluated.items() if not isnan(value)}
        if not topology.is_source(vertex.id):
            known.pop(ScalingMetric.LAG, None)
        replaced: dict[ScalingMetric, float] = {}
        for plugin in self.chain:
            question = VertexQuestion(
                vertex=vertex, metrics={**known, **replaced}, upstream=dict(self._upstream), collected=self.collected
            )
            replaced |= self._asked(plugin, question)
        self._upstream[vertex.id] = {**known, **replaced}
        return replaced

    def _asked(self, plugin: Plugin, question: VertexQuestion) -> Known:
        if self.failure is not None:
            return {}
        try:
            given: Known = plugin.port.override(self.candidate.options, question)
        except Exception as error:  # noqa: BLE001 - it is anybody's code
            self.failure = plugin, plugin.failure(error)
            return {}
        try:
            return sound_overrides(given)
        except ValueError as error:
            self.failure = plugin, plugin.nonsense(error)
            return {}
