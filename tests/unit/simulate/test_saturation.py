"""A job that cannot keep up, whatever its source says of what waits: it grows until it is not held up any more."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.simulate.test_reaction import FAST, STEPS, UP, rescales, scenario

from headgate.engines.simulated.sampling import vertex_sample
from headgate.model.lag import LagOrigin
from headgate.model.measures import Measure
from headgate.model.samples import VertexSample
from headgate.simulate import JobRun, Load, constant, simulate

Gauge = Callable[[float, VertexSample], dict[Measure, float]]
"""What a source says of its lag, records, in place of the true one."""

NAMES = ("honest", "zero", "frozen", "absent")

ENOUGH = 3
"""Subtasks of the last vertex that can do 1600/s: each does 667/s."""


def honest(lag: float, _: VertexSample) -> dict[Measure, float]:
    """Tell what waits."""
    return {Measure.LAG: lag}


def zero(_: float, __: VertexSample) -> dict[Measure, float]:
    """Say that nothing waits."""
    return {Measure.LAG: 0.0}


def frozen(_: float, __: VertexSample) -> dict[Measure, float]:
    """Say what was true once."""
    return {Measure.LAG: 1234.0}


def absent(_: float, __: VertexSample) -> dict[Measure, float]:
    """Say nothing."""
    return {}


def saw_tooth(_: float, seen: VertexSample) -> dict[Measure, float]:
    """Say what is left of what was fetched last, as a Kafka source does that is held up."""
    left = -seen.values[Measure.NUM_RECORDS_IN] % 5000
    return {Measure.LAG: left, Measure.LAG_ORIGIN: float(LagOrigin.DOUBTED)}


def late() -> Gauge:
    """Say what was true twenty seconds ago."""
    told: deque[float] = deque([0.0] * 10, maxlen=10)

    def gauge(lag: float, _: VertexSample) -> dict[Measure, float]:
        told.append(lag)
        return {Measure.LAG: told[0]}

    return gauge


def run(monkeypatch: pytest.MonkeyPatch, gauge: Gauge, load: Load = STEPS, lasting: float = 200.0) -> JobRun:
    """Simulate the job whose source tells its lag so."""

    def told(*arguments: Any) -> VertexSample:
        seen = vertex_sample(*arguments)
        lag = seen.values.get(Measure.LAG)
        if lag is None:
            return seen
        hidden = {Measure.LAG, Measure.OBSERVED_TPR}
        true: dict[Measure, float] = {of: value for of, value in seen.values.items() if of not in hidden}
        return replace(seen, values=true | gauge(lag, seen))

    monkeypatch.setattr("headgate.engines.simulated.collector.vertex_sample", told)
    return simulate(scenario(load, options=FAST, lasting=lasting)).job


@pytest.mark.parametrize("gauge", [honest, zero, frozen, absent, saw_tooth, late()], ids=[*NAMES, "saw-tooth", "late"])
def test_an_overload_is_answered_whatever_the_gauge_says(monkeypatch: pytest.MonkeyPatch, gauge: Gauge) -> None:
    """Asked for within fifteen seconds; enough within forty-five, by no more than three rescales up."""
    asked = [(at_s, changes["agg"]) for at_s, changes in rescales(run(monkeypatch, gauge)) if "agg" in changes]

    ups = [(at_s, after) for at_s, (before, after) in asked if after > before]
    assert UP < ups[0][0] <= UP + 15
    assert min(at_s for at_s, after in ups if after >= ENOUGH) <= UP + 45
    assert len(ups) <= 3


@pytest.mark.parametrize("gauge", [honest, zero, frozen, absent, late()], ids=[*NAMES, "late"])
def test_a_job_that_keeps_up_is_left_alone(monkeypatch: pytest.MonkeyPatch, gauge: Gauge) -> None:
    """Its source waits for records now and then, which proves that it has read them all."""
    assert rescales(run(monkeypatch, gauge, constant(400.0))) == []
