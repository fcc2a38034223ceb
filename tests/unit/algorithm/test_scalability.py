"""Observed scalability: the reference's coefficient, and the learned curve in a vertex's chain of policies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.algorithm.history import Scaling
from headgate.algorithm.propose import propose
from headgate.algorithm.scalability import base_rate, coefficient, outlook_of
from headgate.model.decision import Proposal
from headgate.model.identity import VertexId
from headgate.model.metrics import EvaluatedMetrics, ScalingMetric, VertexMetrics
from headgate.model.reasons import Reason
from headgate.model.state import JobState, ScalingRecord
from headgate.options.autoscaler import AutoscalerOptions, ScalabilityModel
from headgate.testing.builders import START, chain

ON = AutoscalerOptions(
    alignment_mode="OFF",
    scale_down_interval=timedelta(),
    scale_down_max_factor=1.0,
    observed_scalability_enabled=True,
)
CURVE = replace(ON, observed_scalability_model=ScalabilityModel.CURVE)
MAIN = VertexId("main")


def _metrics(rate: float, need: float | None) -> VertexMetrics:
    return VertexMetrics(
        metrics={ScalingMetric.TRUE_PROCESSING_RATE: rate},
        needed_capacity=need,
        factor=None if need is None else need / rate if rate else math.inf,
        outside=True,
    )


def _scaling(before: int, rate: float) -> Scaling:
    return Scaling(before=before, after=before + 1, metrics={ScalingMetric.TRUE_PROCESSING_RATE: rate})


def _proposal(
    running: int, rate: float, need: float, options: AutoscalerOptions = CURVE, past: Mapping[int, float] | None = None
) -> Proposal:
    records = tuple(
        ScalingRecord(
            decision_id=f"d{before}",
            at=START,
            before={MAIN: before},
            after={MAIN: running},
            metrics={MAIN: {ScalingMetric.TRUE_PROCESSING_RATE: then}},
        )
        for before, then in (past or {}).items()
    )
    metrics = EvaluatedMetrics(vertices={MAIN: _metrics(rate, need)}, backlog=False, coverage=1.0, samples=10)
    topology = chain({"main": running}, max_parallelism=1000)
    return propose(topology, metrics, options, START, JobState(history=records))[0]


def test_the_coefficient_is_the_reference_s() -> None:
    """Four subtasks that do 3.2 times the rate of one, eight that do 6.4 times: each brings 0.81 of its share."""
    history = [_scaling(1, 100.0), _scaling(4, 320.0), _scaling(8, 640.0)]

    assert coefficient(history, ON) == 0.81
    assert coefficient(history[:2], ON) == 1.0
    assert coefficient([_scaling(1, math.nan), *history], ON) == 1.0


def test_the_newest_of_equal_bases_counts() -> None:
    """The same parallelism was seen twice."""
    assert base_rate([(2, 100.0), (4, 300.0), (2, 160.0)]) == 80.0


def test_the_curve_is_off_by_default() -> None:
    """By the reference's model, and without history, growth is linear: twice the need, twice the subtasks."""
    assert _proposal(8, 100.0, 200.0, AutoscalerOptions(alignment_mode="OFF")).wanted == 16
    assert _proposal(8, 100.0, 200.0, ON).wanted == 16


def test_growth_begins_with_the_prior() -> None:
    """Twice the need takes 2 ** (1 / 0.75) times the subtasks; the step says by which exponent."""
    proposal = _proposal(8, 100.0, 200.0)

    assert proposal.wanted == math.ceil(8 * 2 ** (1 / 0.75))
    assert [step.reason for step in proposal.steps] == [Reason.UTILIZATION_TARGET, Reason.OBSERVED_SCALABILITY]
    assert proposal.steps[1].detail == "the rate grows with exponent 0.75, seen 100/s at 8"


def test_a_prior_of_one_is_the_linear_rule() -> None:
    """Nobody is asked for more than a proportion says."""
    linear = replace(CURVE, observed_scalability_prior=1.0)

    assert [_proposal(10, 100.0, need, linear).wanted for need in (50.0, 99.0, 101.0, 320.0)] == [5, 10, 11, 32]


def test_what_is_expected_follows_the_curve() -> None:
    """The rate to be had at the wished parallelism is what the curve says: just above the need."""
    expected = _proposal(8, 100.0, 200.0).expected_rate

    assert expected == pytest.approx(100.0 * (21 / 8) ** 0.75)
    assert _proposal(8, 100.0, 200.0, ON).expected_rate == 200.0


def test_history_bends_the_curve() -> None:
    """A first growth that brought its full share makes the next one smaller than the prior would."""
    learned = _proposal(16, 199.0, 300.0, past={8: 100.0})

    assert learned.wanted < _proposal(16, 199.0, 300.0).wanted
    assert "seen 100/s at 8, 199/s at 16" in learned.steps[-1].detail


def test_noise_between_close_points_moves_nothing() -> None:
    """At 20 it did 100, at 21 it seems to do 95: the next step is the prior's all the same."""
    noisy = _proposal(21, 95.0, 130.0, past={20: 100.0}).wanted

    assert abs(noisy - _proposal(21, 95.0, 130.0).wanted) <= 1


def test_a_prior_is_not_believed_too_far_away() -> None:
    """Ten times the need of one subtask would take more than twice ten: the first step is linear."""
    assert _proposal(1, 100.0, 1000.0).wanted == 10
    assert _proposal(1, 100.0, 700.0).wanted == 14


def test_what_is_learned_is_cut_where_a_subtask_would_bring_too_little() -> None:
    """Outlook hardly brought anything; still no more than twice the linear answer is asked for."""
    assert _proposal(16, 110.0, 400.0, past={8: 100.0}).wanted == 2 * math.ceil(16 * 400 / 110)


def test_shrinking_is_bolder_than_linear_but_less_so_than_growing() -> None:
    """A quarter of the rate is needed: a linear estimate keeps 8 of 32, the curve by 0.75 would keep 6."""
    assert _proposal(32, 400.0, 100.0).wanted == math.ceil(32 * 0.25 ** (1 / 0.875)) == 7


def test_a_vertex_that_may_be_at_its_optimum_does_not_shrink() -> None:
    """4 % too fast at 20 subtasks: by the curve 19 would do, by a linear estimate that is not certain."""
    assert _proposal(20, 104.0, 100.0).wanted == 20
    assert _proposal(20, 106.0, 100.0).wanted == 19


def test_it_never_goes_back_to_where_it_was_too_slow() -> None:
    """Thirteen did 99 of 100: however fast twenty are, fourteen is the least."""
    assert _proposal(20, 190.0, 100.0, past={13: 99.0}).wanted == 14


def test_it_never_goes_back_to_where_it_was_too_large() -> None:
    """Shrinking from 20 went too far; by the curve it would have to grow beyond 20, which did 1.6 times the need."""
    assert _proposal(9, 55.0, 100.0, past={20: 160.0}).wanted == 13


@pytest.mark.parametrize(("rate", "need"), [(math.inf, 100.0), (0.0, 100.0), (100.0, 0.0), (100.0, None)])
def test_without_rates_there_is_no_curve(rate: float, need: float | None) -> None:
    """An idle vertex, one that does nothing, no need, an unknown one: the linear rule stays."""
    assert outlook_of(4, _metrics(rate, need), (), CURVE) is None


def test_a_history_without_rates_is_none() -> None:
    """Entries from before the rate was kept, or of an idle vertex, are left out."""
    growth = outlook_of(4, _metrics(100.0, 200.0), [_scaling(2, math.nan), _scaling(3, math.inf)], CURVE)

    assert growth is not None
    assert growth.past == ()


@pytest.mark.parametrize("rate", [0.0, math.inf])
def test_a_rate_of_zero_or_infinity_is_no_error(rate: float) -> None:
    """A vertex that was idle, or did nothing at all, at its smallest parallelism teaches nothing."""
    metrics = {ScalingMetric.TRUE_PROCESSING_RATE: rate}
    past = [Scaling(before=before, after=before + 1, metrics=metrics) for before in (1, 2, 3)]

    assert coefficient(past, AutoscalerOptions(observed_scalability_enabled=True)) == 1


@pytest.mark.parametrize("least", [0.07, 0.14, 0.55, 0.56])
def test_a_coefficient_of_whole_hundredths_stays(least: float) -> None:
    """In binary a hundred times 0.55 is above 55, and was rounded up once more."""
    poor = [Scaling(before=p, after=p, metrics={ScalingMetric.TRUE_PROCESSING_RATE: 1.0}) for p in (1, 50, 100)]

    assert coefficient(poor, AutoscalerOptions(observed_scalability_coefficient_min=least)) == least
