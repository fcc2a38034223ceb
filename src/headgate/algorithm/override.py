"""
Metrics that somebody else knows better: pinned values that replace evaluated ones before they are carried further.

The reference autoscaler's custom evaluator (FLIP-514): it is asked vertex by vertex in topological order, so that what
lies behind a vertex is evaluated by its answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from headgate.algorithm.batch import Batch, Evaluation
from headgate.algorithm.evaluate import evaluate
from headgate.algorithm.stats import Floats
from headgate.model.metrics import ScalingMetric
from headgate.options.deviations import Deviation

Override = Callable[[int, Mapping[ScalingMetric, float]], Mapping[ScalingMetric, float]]
"""Given a row of the batch and its metrics as evaluated, gives those that it replaces; NaN replaces nothing."""

_FIELDS = {
    ScalingMetric.LOAD: "load",
    ScalingMetric.LAG: "lag",
    ScalingMetric.TRUE_PROCESSING_RATE: "true_processing_rate",
    ScalingMetric.TARGET_DATA_RATE: "target_data_rate",
    ScalingMetric.CATCH_UP_DATA_RATE: "catch_up_data_rate",
    ScalingMetric.SCALE_UP_RATE_THRESHOLD: "scale_up_threshold",
    ScalingMetric.SCALE_DOWN_RATE_THRESHOLD: "scale_down_threshold",
}
_THRESHOLDS = (ScalingMetric.SCALE_UP_RATE_THRESHOLD, ScalingMetric.SCALE_DOWN_RATE_THRESHOLD)


def evaluate_with(batch: Batch, override: Override) -> Evaluation:
    """
    Evaluate a batch of one job whose metrics are overridden.

    The reference leaves the thresholds as they were before an override of their own vertex; ours follow it.
    """
    pinned = {metric: np.full(len(batch.job), np.nan) for metric in _FIELDS}
    for level in range(int(batch.level.max(initial=-1)) + 1):
        evaluation = evaluate(batch, pinned)
        for row in np.flatnonzero(batch.level == level).tolist():
            known = {metric: float(getattr(evaluation, field)[row]) for metric, field in _FIELDS.items()}
            if not batch.tuning.rules[Deviation.FRESH_THRESHOLDS][row]:
                _pin(pinned, row, {metric: known[metric] for metric in _THRESHOLDS})
            _pin(pinned, row, override(row, known))
    return evaluate(batch, pinned)


def merged(known: float, incoming: float) -> float:
    """Give what is known after an override: its number, if it is one."""
    return known if math.isnan(incoming) else incoming


def _pin(pinned: Mapping[ScalingMetric, Floats], row: int, values: Mapping[ScalingMetric, float]) -> None:
    for metric in pinned.keys() & values.keys():
        pinned[metric][row] = merged(pinned[metric][row], values[metric])
