"""The paper's policy against its own words, over numbers that nobody would think of."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from headgate.algorithm.decide import decide
from headgate.algorithm.deriv import deriv
from headgate.algorithm.hpa.formula import Tolerance, desired, factor_to
from headgate.algorithm.hpa.policy import Policy, recommend, votes
from headgate.algorithm.hpa.readings import Reading
from headgate.algorithm.hpa.stabilization import Recommended, Stabilization, stabilized
from headgate.algorithm.hpa.votes import elected
from headgate.model.identity import VertexId
from headgate.model.metrics import EvaluatedMetrics, ScalingMetric, VertexMetrics
from headgate.options.autoscaler import AutoscalerOptions
from headgate.plugins.soundness import sound_metrics
from headgate.testing.builders import START, chain, sample

PIPE = VertexId("pipe")
EXACTLY = AutoscalerOptions(
    scale_down_interval=timedelta(), scale_down_max_factor=1.0, alignment_mode="OFF", max_parallelism=400
)

counts = st.integers(1, 300)
unknown = st.just(math.nan)
readings = st.builds(
    Reading,
    at_s=st.just(0.0),
    lag=st.floats(0, 1e7) | unknown,
    lag_slope=st.floats(-1e5, 1e5) | unknown,
    rate=st.floats(0, 1e6) | unknown,
    idle_ms=st.floats(-50, 1100) | unknown,
)
tolerances = st.builds(Tolerance, scale_up=st.floats(0, 0.5), scale_down=st.floats(0, 0.5))
policies = st.builds(
    Policy,
    utilization_target=st.floats(0.1, 1),
    minimum_lag=st.floats(0, 1e6),
    tolerance=tolerances,
    stabilization=st.builds(Stabilization, scale_up_s=st.integers(0, 300), scale_down_s=st.integers(0, 300)),
)


@st.composite
def stories(draw: st.DrawFn) -> list[Reading]:
    """Draw readings of some minutes, fifteen seconds apart, the last one at 0."""
    drawn = draw(st.lists(readings, min_size=1, max_size=20))
    return [replace(each, at_s=15.0 * (place - len(drawn) + 1)) for place, each in enumerate(drawn)]


@given(reading=readings, current=counts, policy=policies)
def test_the_lag_never_asks_for_fewer_than_run(reading: Reading, current: int, policy: Policy) -> None:
    """Above its minimum it holds or grows, up to it it has no say, unknown it is missing."""
    lag, _ = votes(reading, current, policy)
    if reading.lag <= policy.minimum_lag:
        assert lag.wants == 0
    else:
        assert lag.wants is None or lag.wants >= current


@given(reading=readings, current=counts, policy=policies)
def test_utilization_asks_for_no_more_than_a_target_s_share(reading: Reading, current: int, policy: Policy) -> None:
    """It ends at 1, however large the backlog is."""
    _, utilization = votes(reading, current, policy)
    most = max(current, math.ceil(current / (policy.utilization_target - 0.0005)))
    assert utilization.wants is None or utilization.wants <= most


@given(reading=readings, current=counts, policy=policies)
def test_nobody_shrinks_with_a_metric_missing_or_a_backlog(reading: Reading, current: int, policy: Policy) -> None:
    """Whatever the other one says."""
    both = votes(reading, current, policy)
    found = elected(both, current)
    if any(vote.wants is None for vote in both) or reading.lag > policy.minimum_lag:
        assert found is None or found.replicas >= current


@given(story=stories(), current=counts, policy=policies)
def test_what_is_done_lies_between_what_runs_and_what_is_wished(
    story: list[Reading], current: int, policy: Policy
) -> None:
    """Stabilization holds back, and never turns a wish round."""
    found = recommend(story, current, policy, since_s=story[0].at_s)
    wish = found.followed.replicas if found.followed else current
    assert min(current, wish) <= found.replicas <= max(current, wish)


@given(story=stories(), current=counts, policy=policies)
def test_longer_windows_are_calmer(story: list[Reading], current: int, policy: Policy) -> None:
    """No longer window lets a job move further."""
    windows = policy.stabilization
    longer = Stabilization(scale_up_s=windows.scale_up_s + 60, scale_down_s=windows.scale_down_s + 60)
    usual = recommend(story, current, policy, since_s=-math.inf).replicas
    calmer = recommend(story, current, replace(policy, stabilization=longer), since_s=-math.inf).replicas
    assert abs(calmer - current) <= abs(usual - current)


@given(wishes=st.lists(counts, min_size=1, max_size=20), current=counts)
def test_a_job_shrinks_to_the_largest_wish_of_its_window(wishes: list[int], current: int) -> None:
    """The rule in a line, where all of it lies within the window."""
    recommended = [Recommended(float(place), wish) for place, wish in enumerate(wishes)]
    found = stabilized(current, recommended, Stabilization(scale_down_s=1000), since_s=-math.inf)
    assert found == (wishes[-1] if wishes[-1] >= current else min(current, max(wishes)))


@given(current=counts, ratio=st.floats(0, 50), tolerance=tolerances)
def test_the_formula_grows_with_the_ratio(current: int, ratio: float, tolerance: Tolerance) -> None:
    """More of a metric never means fewer replicas."""
    assert desired(current, ratio, tolerance) <= desired(current, ratio + 0.1, tolerance)


@given(current=st.integers(1, 32768), wanted=st.integers(1, 32768))
def test_a_factor_says_exactly_what_is_wanted(current: int, wanted: int) -> None:
    """Wherever doubles round."""
    assert math.ceil(current * factor_to(current, wanted)) == wanted


@given(current=counts, wanted=counts, rate=st.floats(0.001, 1e6))
def test_the_pipeline_does_what_the_policy_wants(current: int, wanted: int, rate: float) -> None:
    """From the factor through the checks of plugins, policies and verdict to the very same number."""
    topology = chain({PIPE: current}, max_parallelism=32768)
    factor = factor_to(current, wanted)
    known = VertexMetrics(
        metrics={ScalingMetric.TRUE_PROCESSING_RATE: rate},
        needed_capacity=rate * factor,
        factor=factor,
        outside=wanted != current,
        basis="why",
    )
    evaluated = EvaluatedMetrics(vertices={PIPE: known}, backlog=False, coverage=1.0, samples=2)
    (proposal,) = decide(sample(topology), sound_metrics(evaluated, topology), EXACTLY, START).proposals
    assert proposal.wanted == wanted


@given(
    gaps=st.lists(st.floats(0.5, 100), min_size=1, max_size=30),
    slope=st.floats(-1e4, 1e4),
    begin=st.floats(0, 1e6),
)
def test_the_slope_of_a_line_is_its_slope(gaps: list[float], slope: float, begin: float) -> None:
    """However uneven the samples are."""
    at_s = np.cumsum([0.0, *gaps])
    assert math.isclose(deriv(at_s, begin + slope * at_s), slope, rel_tol=1e-6, abs_tol=1e-4)
