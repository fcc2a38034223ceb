"""Busy time and the true processing rate against the reference's cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from headgate.algorithm.batch import Batch
from headgate.algorithm.busy import busy_rate, busy_time, input_rate, true_rate
from headgate.algorithm.epochs import combine
from headgate.algorithm.fleet import FleetJob, assemble
from headgate.algorithm.rates import mean
from headgate.algorithm.reduce import reduce_windows
from headgate.model.identity import VertexId
from headgate.model.measures import Measure
from headgate.model.topology import Topology, Vertex
from headgate.testing.builders import ORDERS
from headgate.testing.golden import Case, number
from headgate.testing.tables import Row, table_of

MEASURES = {
    "load": Measure.LOAD,
    "accumulated_busy_time": Measure.ACCUMULATED_BUSY_TIME,
    "num_records_in": Measure.NUM_RECORDS_IN,
    "num_records_in_per_second": Measure.NUM_RECORDS_IN_PER_SECOND,
}


def _batch(case: Case) -> Batch:
    vertex = Vertex(id=VertexId("v"), name="v", parallelism=case.inputs.get("parallelism", 1), max_parallelism=128)
    rows = [Row(vertex="v", at_ms=sample["t_ms"], values=_values(sample)) for sample in case.inputs["history"]]
    job = FleetJob(key=ORDERS, topology=Topology(vertices=(vertex,)), options=case.options)
    return assemble([job], reduce_windows(table_of(rows)))


def _values(sample: Mapping[str, Any]) -> Mapping[Measure, float]:
    return {measure: float(sample[name]) for name, measure in MEASURES.items() if sample.get(name) is not None}


def test_busy_time(case: Case) -> None:
    """Busy time comes from the counter with AVG and from the sampled load otherwise."""
    found = busy_time(_batch(case))

    assert found[0] == pytest.approx(float(case.expected["busy_time_ms_per_sec"]), rel=1e-9, nan_ok=True)


def test_tpr_input_rate(case: Case) -> None:
    """The numerator of the true rate is estimated as the busy time is."""
    found = input_rate(_batch(case))

    assert found[0] == pytest.approx(float(case.expected["rate"]), rel=1e-9, nan_ok=True)


def test_true_processing_rate(case: Case) -> None:
    """An observed rate replaces the one from busy time where that promises too much."""
    series = [number(value) for value in case.inputs["observed_tpr_series"]]
    rows = [Row(vertex="v", at_ms=1000 * i, values={Measure.OBSERVED_TPR: v}) for i, v in enumerate(series)]
    windows = reduce_windows(table_of(rows))
    stats = combine(windows, np.zeros(len(windows.job), dtype=np.int64), 1)[Measure.OBSERVED_TPR]
    read, busy = (np.array([number(case.inputs[name])]) for name in ("input_rate", "busy_time_ms_per_sec"))

    found = true_rate(
        busy_rate(read, busy),
        mean(stats, case.options.observed_tpr_min_observations),
        np.array([case.options.observed_tpr_switch_threshold]),
    )

    assert found[0] == pytest.approx(float(case.expected["true_processing_rate"]), rel=1e-9, nan_ok=True)
