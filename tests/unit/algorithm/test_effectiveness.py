"""A growth that brought too little is told of, and stops the next one where that is wanted (FLIP-271)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest

from headgate.algorithm.effectiveness import growing_effectively, is_effective
from headgate.algorithm.history import Scaling
from headgate.model.decision import Proposal
from headgate.model.events import EventReason, EventType
from headgate.model.identity import VertexId
from headgate.model.metrics import ScalingMetric, VertexMetrics
from headgate.model.reasons import Reason
from headgate.options.autoscaler import AutoscalerOptions

TOLD = AutoscalerOptions()
STOPPED = AutoscalerOptions(effectiveness_detection_enabled=True)
GREW = Scaling(
    before=2,
    after=4,
    metrics={ScalingMetric.TRUE_PROCESSING_RATE: 200.0, ScalingMetric.EXPECTED_PROCESSING_RATE: 400.0},
)
"""From 2 to 4 subtasks, to gain 200/s."""


def _doing(true_rate: float) -> VertexMetrics:
    metrics: Mapping[ScalingMetric, float] = {ScalingMetric.TRUE_PROCESSING_RATE: true_rate}
    return VertexMetrics(metrics=metrics, needed_capacity=800.0, factor=2.0, outside=True)


def _grown(
    true_rate: float, *past: Scaling, current: int = 4, wanted: int = 8, options: AutoscalerOptions = STOPPED
) -> Proposal:
    proposal = Proposal(vertex=VertexId("v"), name="sink", current=current, wanted=wanted)
    return growing_effectively(_doing(true_rate), past, options)(proposal)


def test_a_growth_that_brought_nothing_stops_the_next_one() -> None:
    """15 of 200/s are less than a tenth; the step has the numbers."""
    found = _grown(215, GREW)

    assert not found.changes
    assert found.steps[-1].reason is Reason.INEFFECTIVE_SCALING
    assert found.steps[-1].detail == "the growth from 2 to 4 brought 15 of 200/s"


def test_a_tenth_of_what_was_expected_is_enough() -> None:
    """Then nothing is told either."""
    found = _grown(220, GREW)

    assert (found.wanted, found.notices) == (8, ())


def test_by_default_it_is_told_and_not_stopped() -> None:
    """A false alarm would leave a job behind its load (FLINK-35814), so to be told is the default."""
    found = _grown(215, GREW, options=TOLD)

    assert found.wanted == 8
    (notice,) = found.notices
    assert (notice.reason, notice.type) == (EventReason.INEFFECTIVE_SCALING, EventType.NORMAL)
    assert notice.fields == {"expected_increase": 200.0, "actual_increase": 15.0, "blocking": 0}
    assert notice.message == "sink gained 15/s of the 200/s expected: growth is not stopped"


def test_the_notice_repeats_under_one_key() -> None:
    """It is the same news as long as it is about the same growth, whatever the rate does."""
    keys = {notice.key for rate in (210, 215) for notice in _grown(rate, GREW).notices}

    assert keys == {"ineffective:v:200"}


@pytest.mark.parametrize(
    ("past", "current"),
    [
        ((), 4),
        ((GREW,), 5),
        ((GREW, replace(GREW, before=6)), 4),
        ((replace(GREW, before=4),), 4),
    ],
)
def test_only_a_growth_to_the_running_parallelism_is_judged(past: tuple[Scaling, ...], current: int) -> None:
    """No past, a change by hand since, a shrinking as the newest rescale: nothing to compare with."""
    found = _grown(0, *past, current=current)

    assert (found.wanted, found.notices) == (8, ())


def test_who_shrinks_is_never_stopped() -> None:
    """The growth was in vain, so to take it back is right."""
    found = _grown(200, GREW, wanted=2)

    assert (found.wanted, found.notices) == (2, ())


@pytest.mark.parametrize(
    ("expected", "actual", "effective"),
    [
        (200, 20, True),
        (200, 19, False),
        (200, -50, False),
        (math.nan, 20, False),
        (200, math.nan, False),
        (0, 1, True),
        (0, 0, False),
    ],
)
def test_what_is_unknown_is_not_effective(expected: float, actual: float, *, effective: bool) -> None:
    """Nothing gained where nothing was expected is unknown as well; anything gained there is enough."""
    assert is_effective(expected, actual, 0.1) is effective
