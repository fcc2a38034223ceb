"""The evaluator of queries that run in micro-batches, as a plugin; the rules are `algorithm.micro_batch`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from headgate.algorithm.micro_batch.evaluate import evaluate
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import CollectedMetrics


class MicroBatchEvaluator:
    """A `ports.MetricEvaluator`: the fewest cores on which all queries of an application keep up."""

    def __init__(self, _parameters: Mapping[str, str] = {}, /) -> None:
        """Need no parameters."""

    def evaluate(
        self, conf: AutoscalerOptions, collected: CollectedMetrics, restart_time: timedelta, /
    ) -> EvaluatedMetrics | NotReady:
        """Evaluate the application."""
        return evaluate(collected.topology, collected.samples, replace(conf, restart_time=restart_time))
