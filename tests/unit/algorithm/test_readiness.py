"""When the samples of a job are enough to decide on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.algorithm.readiness import Pace, Span, pace, readiness
from headgate.algorithm.rules import HEADGATE
from headgate.model.identity import VertexId
from headgate.model.metrics import NotReady
from headgate.model.reasons import Reason
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Deviation
from headgate.testing.builders import at, chain, sample

WINDOW = timedelta(minutes=10)
OPTIONS = AutoscalerOptions(metrics_window=WINDOW, stabilization_interval=timedelta(minutes=5))
PACE = Pace(sample_every=timedelta(seconds=10), stale_after=timedelta(seconds=30), tolerance=timedelta(seconds=20))
TOPOLOGY = chain({"in": 1, "out": 1})
NOW = 3600
"""Seconds since the job began to run."""


def _span(first: int, last: int, samples: int | None = None) -> Span:
    """Build a span with a sample every 10 seconds, if nothing else is said."""
    return Span(samples=(last - first) // 10 + 1 if samples is None else samples, first_at=at(first), last_at=at(last))


FULL = _span(NOW - 600, NOW)


def _readiness(spans: Mapping[str, Span], now: int = NOW, at_pace: Pace = PACE) -> NotReady | None:
    known = {VertexId(vertex): span for vertex, span in spans.items()}
    return readiness(sample(TOPOLOGY), OPTIONS, spans=known, pace=at_pace, now=at(now))


def test_a_full_window_is_ready() -> None:
    """Both vertices span it, without a hole."""
    assert _readiness({"in": FULL, "out": FULL}) is None


@pytest.mark.parametrize(("now", "reason"), [(299, Reason.STABILIZING), (300, Reason.WINDOW_FILLING)])
def test_nothing_is_decided_while_a_job_stabilizes(now: int, reason: Reason) -> None:
    """Five minutes after it began to run the job is stable, not a second earlier."""
    answer = _readiness({"in": _span(200, now), "out": _span(200, now)}, now)

    assert answer is not None
    assert answer.reason is reason


@pytest.mark.parametrize(("began", "left"), [(-40, 260), (0, 300), (24, 300)])
def test_no_more_stabilization_is_left_than_there_is(began: int, left: int) -> None:
    """A decision bears the instant of its tick; a job that started 24 s after that has the whole interval before it."""
    young = sample(TOPOLOGY, running_since=at(NOW + began))

    answer = readiness(young, OPTIONS, spans={}, pace=PACE, now=at(NOW))

    assert answer == NotReady(reason=Reason.STABILIZING, message=f"{left} s of stabilization are left")


@pytest.mark.parametrize(
    ("out", "reason", "message"),
    [
        (None, Reason.MISSING_METRICS, "there is no sample of out"),
        (_span(NOW - 600, NOW - 31), Reason.STALE_METRICS, "the latest sample of out is 31 s old"),
        (_span(NOW - 579, NOW), Reason.WINDOW_FILLING, "the samples of out lack the first 21 s of 10 min"),
        (_span(NOW - 600, NOW, samples=45), Reason.PARTIAL_METRICS, "too many samples of out are missing"),
    ],
)
def test_one_vertex_holds_the_job_up(out: Span | None, reason: Reason, message: str) -> None:
    """What lacks is told with the vertex that lacks it."""
    assert _readiness({"in": FULL, **({"out": out} if out else {})}) == NotReady(reason=reason, message=message)


@pytest.mark.parametrize("out", [_span(NOW - 600, NOW - 30), _span(NOW - 580, NOW), _span(NOW - 600, NOW, samples=46)])
def test_a_little_late_is_good_enough(out: Span) -> None:
    """Late answers, a late begin and a few lost samples are tolerated up to their limits."""
    assert _readiness({"in": FULL, "out": out}) is None


def test_the_reference_decides_on_a_window_with_holes() -> None:
    """Two samples at the ends of it are enough there; here they tell too little."""
    ends = _span(NOW - 600, NOW, samples=2)
    theirs = replace(PACE, whole=pace(timedelta(seconds=10), 0.0, HEADGATE - {Deviation.WHOLE_WINDOWS}).whole)

    assert _readiness({"in": ends, "out": FULL}) is not None
    assert _readiness({"in": ends, "out": FULL}, at_pace=theirs) is None


def test_no_samples_at_all() -> None:
    """That nothing is there is another thing than that something is missing."""
    answer = _readiness({})

    assert answer is not None
    assert answer.reason is Reason.NO_SAMPLES


def test_a_finished_vertex_needs_no_samples() -> None:
    """It will never have any again."""
    vertices = tuple(replace(v, finished=v.name == "out") for v in TOPOLOGY.vertices)
    finished = sample(replace(TOPOLOGY, vertices=vertices))

    assert readiness(finished, OPTIONS, spans={VertexId("in"): FULL}, pace=PACE, now=at(NOW)) is None
