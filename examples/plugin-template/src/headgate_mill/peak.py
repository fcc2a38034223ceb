"""Expects more of the sources while a daily peak is on its way."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.model.metrics import ScalingMetric
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import VertexQuestion


class DailyPeak:
    """
    Raises the target rate of sources during some hours of each day. Implements `headgate.ports.EvaluatorPlugin`.

    What lies behind the sources follows by itself.
    """

    priority = 0

    def __init__(self, parameters: Mapping[str, str]) -> None:
        """
        Take `from` and `to`, whole hours in UTC, and `factor`.

        Raises:
            ValueError: one of them is no number.
        """
        self._hours = range(int(parameters.get("from", "0")), int(parameters.get("to", "24")))
        self._factor = float(parameters.get("factor", "1.5"))

    def override(self, conf: AutoscalerOptions, question: VertexQuestion, /) -> Mapping[ScalingMetric, float]:
        """Replace the target rate of a source by what it will be."""
        rate = question.metrics.get(ScalingMetric.TARGET_DATA_RATE)
        collected = question.collected
        is_source = collected.topology.is_source(question.vertex.id)
        if rate is None or not is_source or collected.samples[-1].at.hour not in self._hours:
            return {}
        return {ScalingMetric.TARGET_DATA_RATE: rate * self._factor}
