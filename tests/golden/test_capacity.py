"""The capacity formula and both thresholds against the reference's cases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from headgate.algorithm.batch import Tuning
from headgate.algorithm.capacity import Demand, band, capacity, restart_rate
from headgate.algorithm.fleet import tuning
from headgate.options.deviations import Deviation
from headgate.options.units import parse_duration
from headgate.testing.golden import Case


def _tuning(case: Case) -> Tuning:
    restart = parse_duration(case.inputs["restart_time"])
    return tuning([(replace(case.options, restart_time=restart), 1)])


def _demand(case: Case) -> Demand:
    target, catch_up = (np.array([float(case.inputs[f"{name}_data_rate"])]) for name in ("target", "catch_up"))
    return Demand(target=target, catch_up=catch_up)


def test_target_capacity(case: Case) -> None:
    """Capacity serves target, lag and restart at a utilization."""
    demand, tuned = _demand(case), _tuning(case)
    found = capacity(
        demand,
        np.array([float(case.inputs["utilization"])]),
        restart_rate=restart_rate(demand.target, tuned) if case.inputs["with_restart"] else 0.0,
        exact=tuned.rules[Deviation.EXACT_CAPACITY],
    )

    assert found[0] == pytest.approx(float(case.expected["capacity"]), rel=1e-9, nan_ok=True)


def test_thresholds(case: Case) -> None:
    """The band in which a vertex is left alone opens wide while a backlog is worked off."""
    found = band(_demand(case), _tuning(case), np.array([case.inputs["processing_backlog"]]))

    assert found.scale_up[0] == pytest.approx(float(case.expected["scale_up_rate_threshold"]), nan_ok=True)
    assert found.scale_down[0] == pytest.approx(float(case.expected["scale_down_rate_threshold"]), nan_ok=True)
