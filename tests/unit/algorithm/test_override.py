"""Metrics that a plugin replaces, carried on to the vertices behind."""

from __future__ import annotations

import math
from collections.abc import Mapping

from headgate.algorithm.batch import Evaluation
from headgate.algorithm.fleet import FleetJob, assemble
from headgate.algorithm.override import evaluate_with
from headgate.algorithm.reduce import reduce_windows
from headgate.model.metrics import ScalingMetric
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Parity
from headgate.testing.builders import ORDERS, chain
from headgate.testing.tables import steady, table_of


def _evaluated(answers: Mapping[int, Mapping[ScalingMetric, float]], parity: Parity = Parity.CURRENT) -> Evaluation:
    """Evaluate source and sink at 100/s each, some of their metrics replaced by row."""
    rows = steady("in", read=100, written=100) + steady("out", read=100)
    job = FleetJob(key=ORDERS, topology=chain({"in": 1, "out": 1}), options=AutoscalerOptions(parity=parity))
    batch = assemble([job], reduce_windows(table_of(rows)))
    return evaluate_with(batch, lambda row, _: answers.get(row, {}))


def test_a_replaced_target_is_carried_on() -> None:
    """A forecast for the source is what the sink is scaled for."""
    found = _evaluated({0: {ScalingMetric.TARGET_DATA_RATE: 1000.0}})

    assert found.target_data_rate.tolist() == [1000, 1000]


def test_nan_replaces_nothing() -> None:
    """A plugin that does not know leaves what was evaluated."""
    found = _evaluated({0: {ScalingMetric.TARGET_DATA_RATE: math.nan}, 1: {}})

    assert found.target_data_rate.tolist() == [100, 100]


def test_a_replaced_rate_changes_what_is_needed() -> None:
    """A known capacity takes the place of the measured one."""
    assert _evaluated({1: {ScalingMetric.TRUE_PROCESSING_RATE: 50.0}}).true_processing_rate.tolist() == [200, 50]


def test_thresholds_follow_what_is_replaced() -> None:
    """The reference tests the new number against the old band and finds nothing wrong."""
    replaced = {0: {ScalingMetric.TARGET_DATA_RATE: 1000.0}}

    assert _evaluated(replaced).scale_up_threshold.tolist() == [1000, 1000]
    assert _evaluated(replaced, Parity.REFERENCE).scale_up_threshold.tolist() == [100, 1000]


def test_a_plugin_sees_what_was_replaced_before_it() -> None:
    """Vertices are asked in topological order."""
    seen: list[float] = []
    rows = steady("in", read=100, written=100) + steady("out", read=100)
    job = FleetJob(key=ORDERS, topology=chain({"in": 1, "out": 1}), options=AutoscalerOptions())

    def double(_: int, known: Mapping[ScalingMetric, float]) -> Mapping[ScalingMetric, float]:
        seen.append(known[ScalingMetric.TARGET_DATA_RATE])
        return {ScalingMetric.TARGET_DATA_RATE: 2 * known[ScalingMetric.TARGET_DATA_RATE]}

    evaluate_with(assemble([job], reduce_windows(table_of(rows))), double)

    assert seen == [100, 200]
