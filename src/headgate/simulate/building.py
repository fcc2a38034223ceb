"""Short ways to write scenarios in code; everything else is a field of `Scenario` and its parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from headgate.engines.simulated.curve import CurvePoint, ServiceCurve
from headgate.engines.simulated.graph import SimulatedEdge, SimulatedJob, SimulatedVertex
from headgate.engines.simulated.load import Load, LoadPoint
from headgate.engines.simulated.sickness import Sickness

Rates = Mapping[int, float] | Mapping[float, float]
"""Records/s by the seconds since the beginning."""


def job(
    name: str,
    *vertices: SimulatedVertex,
    edges: Iterable[tuple[str, str]] = (),
    sicknesses: Iterable[Sickness] = (),
) -> SimulatedJob:
    """Make a job; without edges its vertices are a chain."""
    laid = tuple(SimulatedEdge(source=source, target=target) for source, target in edges)
    return SimulatedJob(name=name, vertices=vertices, edges=laid, sicknesses=tuple(sicknesses))


def vertex(name: str, rate: float | ServiceCurve, **rest: Any) -> SimulatedVertex:
    """Make a vertex of the rate of one subtask in records/s, or a curve, and any other fields of `SimulatedVertex`."""
    curve = rate if isinstance(rate, ServiceCurve) else ServiceCurve(rate=rate)
    return SimulatedVertex(name=name, curve=curve, **rest)


def measured(points: Mapping[int, float]) -> ServiceCurve:
    """Make a curve of measured records/s by parallelism."""
    return ServiceCurve(points=tuple(CurvePoint(parallelism=at, rate=rate) for at, rate in points.items()))


def constant(rate: float, *, noise: float = 0.0) -> Load:
    """Make a load of so many records/s."""
    return Load(rate=rate, noise=noise)


def steps(rates: Rates, *, noise: float = 0.0) -> Load:
    """Make a load that jumps: records/s by the seconds at which they begin."""
    return Load(points=_points(rates), noise=noise)


def trace(rates: Rates, *, noise: float = 0.0) -> Load:
    """Make a load that goes in straight lines: records/s by seconds. Two points are a ramp."""
    return Load(points=_points(rates), interpolate=True, noise=noise)


def sine(rate: float, amplitude: float, period: timedelta, *, noise: float = 0.0) -> Load:
    """Make a load that begins at a rate, rises, and swings around it."""
    return Load(rate=rate, amplitude=amplitude, period=period, noise=noise)


def _points(rates: Rates) -> tuple[LoadPoint, ...]:
    return tuple(LoadPoint(at=timedelta(seconds=at), rate=rate) for at, rate in sorted(rates.items()))
