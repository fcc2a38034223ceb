"""What is agreed, for any load, any downtime and any bounds, held against trying every parallelism."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta

import hypothesis.strategies as st
from hypothesis import given

from headgate.algorithm.decide import decide
from headgate.algorithm.policies import LARGEST
from headgate.algorithm.sla import Load
from headgate.model.decision import Decision, Outcome
from headgate.model.downtime import Downtime
from headgate.model.identity import VertexId
from headgate.model.metrics import EvaluatedMetrics, ScalingMetric, VertexMetrics
from headgate.model.topology import Topology, Vertex
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.sla import SlaOptions
from headgate.testing.builders import START, sample

V = VertexId("v")
MOST = 64
SLACK = 1e-6
"""Share of the agreed time by which rounding may decide."""

spans = st.integers(1, 1_000).map(float)
shares = st.floats(0.25, 1.0)
loads = st.builds(
    Load,
    name=st.just("v"),
    parallelism=st.integers(1, MOST),
    most=st.just(MOST),
    capacity=st.floats(1, 1_000),
    rate=st.floats(0, 1_000),
    lag=st.floats(0, 100_000),
    exponent=st.floats(0.5, 1.0),
    share=shares,
)
agreements = st.builds(
    SlaOptions,
    max_lag_time=st.none() | st.integers(1, 1_000).map(lambda s: timedelta(seconds=s)),
    recovery_time=st.integers(1, 1_000).map(lambda s: timedelta(seconds=s)),
)


def _decided(load: Load, sla: SlaOptions, downtime_s: float, *, factor: float = 1.0, most: int = MOST) -> Decision:
    graph = Topology(vertices=(Vertex(id=V, name="v", parallelism=load.parallelism, max_parallelism=MOST),))
    metrics = VertexMetrics(
        metrics={
            ScalingMetric.TRUE_PROCESSING_RATE: load.capacity,
            ScalingMetric.TARGET_DATA_RATE: load.rate,
            ScalingMetric.LAG: load.lag,
        },
        needed_capacity=load.capacity * factor,
        factor=factor,
        outside=factor != 1,
    )
    span = timedelta(seconds=downtime_s)
    known = EvaluatedMetrics(
        vertices={V: metrics},
        backlog=False,
        coverage=1.0,
        samples=2,
        downtime=Downtime(expected=span, low=span, high=span, basis="a property"),
    )
    options = AutoscalerOptions(
        sla=sla,
        alignment_mode="OFF",
        max_parallelism=most,
        scale_down_interval=timedelta(),
        scale_down_max_factor=1.0,
        rescale_horizon=timedelta(days=365),
    )
    return decide(sample(graph), known, options, START)


def _in_time(load: Load, parallelism: int, downtime_s: float, within_s: float) -> bool:
    return load.recovery_s(parallelism, downtime_s) <= within_s * (1 + SLACK)


@given(load=loads, downtime_s=spans, within_s=spans)
def test_the_least_parallelism_is_the_first_of_all_that_recovers_in_time(
    load: Load, downtime_s: float, within_s: float
) -> None:
    """Every smaller one is too late; this one is not."""
    least = load.least_in_time(downtime_s, within_s)

    assert least == LARGEST or _in_time(load, least, downtime_s, within_s)
    assert not any(
        load.recovery_s(parallelism, downtime_s) < within_s * (1 - SLACK) for parallelism in range(1, min(least, 2_000))
    )


@given(load=loads, downtime_s=spans, within_s=spans, more=st.floats(0, 1_000))
def test_more_to_do_never_takes_fewer_subtasks(load: Load, downtime_s: float, within_s: float, more: float) -> None:
    """Of lag, of input and of downtime; and more time never takes more."""
    least = load.least_in_time(downtime_s, within_s)

    assert least <= load.least_in_time(downtime_s + more, within_s)
    assert least <= replace(load, lag=load.lag + more).least_in_time(downtime_s, within_s)
    assert least <= replace(load, rate=load.rate + more).least_in_time(downtime_s, within_s)
    assert least >= load.least_in_time(downtime_s, within_s + more)


@given(load=loads, sla=agreements, downtime_s=spans, most=st.integers(1, MOST), factor=st.floats(0.01, 8))
def test_a_rescale_recovers_in_time_unless_its_bounds_forbid_that(
    load: Load, sla: SlaOptions, downtime_s: float, most: int, factor: float
) -> None:
    """And it never leaves the bounds, nor shrinks to where it breaks what is agreed."""
    load = replace(load, exponent=1.0, share=1.0)
    decision = _decided(load, sla, downtime_s, factor=factor, most=most)
    (proposal,) = decision.proposals
    allowed = max(most, load.parallelism)

    assert proposal.wanted <= allowed
    if decision.outcome is not Outcome.RESCALE:
        return
    assert decision.forecast is not None
    assert sla.within is not None
    within_s = sla.within.total_seconds()
    if proposal.wanted < load.parallelism:
        assert _in_time(load, proposal.wanted, downtime_s, within_s)
        assert sla.max_lag_time is None or decision.forecast.peak_lag_time_s <= sla.max_lag_time.total_seconds()
    else:
        assert proposal.wanted == allowed or _in_time(load, proposal.wanted, downtime_s, within_s)


@given(load=loads, sla=agreements, downtime_s=spans)
def test_a_job_within_its_band_grows_only_to_recover_sooner(load: Load, sla: SlaOptions, downtime_s: float) -> None:
    """It takes the least that is in time, and only where it would be late as it runs."""
    load = replace(load, exponent=1.0, share=1.0)
    decision = _decided(load, sla, downtime_s)
    assert sla.within is not None
    within_s = sla.within.total_seconds()
    if decision.outcome is Outcome.RESCALE:
        assert load.recovery_s(load.parallelism, 0.0) > within_s
        assert decision.proposals[0].wanted == min(load.least_in_time(downtime_s, within_s), MOST)
        assert load.recovery_s(decision.proposals[0].wanted, downtime_s) < load.recovery_s(load.parallelism, 0.0)
    elif decision.forecast and math.isfinite(load.recovery_s(MOST, downtime_s)):
        in_time = _in_time(load, load.parallelism, 0.0, within_s)
        assert in_time or load.recovery_s(MOST, downtime_s) >= load.recovery_s(load.parallelism, 0.0) * (1 - SLACK)


@given(load=loads, factor=st.floats(0.01, 8), downtime_s=st.integers(0, 10))
def test_who_owes_nothing_is_decided_for_as_ever(load: Load, factor: float, downtime_s: int) -> None:
    """Whatever lags, and whatever is predicted: the proposals are those of the numbers alone."""
    plain = _decided(load, SlaOptions(), float(downtime_s), factor=factor)
    without_lag = _decided(replace(load, lag=0.0), SlaOptions(), 0.0, factor=factor)

    assert plain.proposals == without_lag.proposals
    assert plain.forecast is None
    assert not plain.notices
