"""Service curves: formulas and measured points."""

from __future__ import annotations

import pytest

from headgate.engines.simulated.curve import CurvePoint, ServiceCurve


def test_a_rate_alone_is_a_line() -> None:
    """Twice the subtasks do twice the work."""
    curve = ServiceCurve(rate=100)
    assert [curve.capacity_per_s(p) for p in (1, 2, 10)] == [100, 200, 1000]


def test_an_exponent_makes_it_a_power_law() -> None:
    """With 0.5, four subtasks do the work of two."""
    assert ServiceCurve(rate=100, exponent=0.5).capacity_per_s(4) == pytest.approx(200)


def test_coherence_gives_the_curve_a_summit() -> None:
    """Beyond it, more subtasks do less, as the Universal Scalability Law has it."""
    curve = ServiceCurve(rate=100, alpha=0.05, beta=0.01)
    capacities = [curve.capacity_per_s(p) for p in range(1, 40)]
    assert capacities.index(max(capacities)) + 1 == 10
    assert curve.capacity_per_s(2) == pytest.approx(200 / (1 + 0.05 + 0.02))


def test_points_are_met_and_joined_by_straight_lines() -> None:
    """Also from nothing to the first point, and on beyond the last one."""
    points = {2: 200.0, 4: 300.0}
    curve = ServiceCurve(points=tuple(CurvePoint(parallelism=p, rate=rate) for p, rate in points.items()))
    assert [curve.capacity_per_s(p) for p in (1, 2, 3, 4, 6)] == [100, 200, 250, 300, 400]


def test_a_curve_needs_either_a_rate_or_points() -> None:
    """Neither, or both, is a mistake."""
    with pytest.raises(ValueError, match="either rate or points"):
        ServiceCurve()
    with pytest.raises(ValueError, match="either rate or points"):
        ServiceCurve(rate=1, points=(CurvePoint(parallelism=1, rate=1),))
