"""What is remembered of past rescales, for how long, and what it tells of restarts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.algorithm.history import growths, restart_time, scalings_of, trimmed, with_restart
from headgate.algorithm.rules import HEADGATE, PARITY
from headgate.model.identity import VertexId
from headgate.model.metrics import ScalingMetric
from headgate.model.state import ScalingRecord
from headgate.options.autoscaler import AutoscalerOptions
from headgate.testing.builders import at

A, B = VertexId("a"), VertexId("b")
OPTIONS = AutoscalerOptions(history_max_count=2, history_max_age=timedelta(hours=1))
TRACKED = AutoscalerOptions(restart_time=timedelta(minutes=5), restart_time_tracking_enabled=True)


def _record(seconds: float, after: Mapping[VertexId, int], restart_s: float | None = None) -> ScalingRecord:
    return ScalingRecord(
        decision_id=f"d{seconds:g}",
        at=at(seconds),
        before=dict.fromkeys(after, 1),
        after=after,
        restart=None if restart_s is None else timedelta(seconds=restart_s),
        metrics={vertex: {ScalingMetric.TRUE_PROCESSING_RATE: seconds} for vertex in after},
    )


def test_a_growth_counts_while_the_vertex_runs_at_it() -> None:
    """`a` grew to what it runs at; `b` grew as well, but was changed by hand since, or has shrunk later."""
    rates = {ScalingMetric.TRUE_PROCESSING_RATE: 100.0, ScalingMetric.EXPECTED_PROCESSING_RATE: 200.0}
    grew = replace(_record(0, {A: 2, B: 4}), metrics={A: rates, B: rates})
    shrank = replace(_record(10, {B: 2}), before={B: 4})

    assert growths([grew], {A: 2, B: 3}) == {A: (100.0, 200.0)}
    assert growths([grew, shrank], {A: 2, B: 2}) == {A: (100.0, 200.0)}
    assert growths([], {A: 2}) == {}


def test_each_vertex_has_a_history_of_its_own() -> None:
    """A vertex that changes rarely keeps its rescales while the others' are dropped one after another."""
    history = [_record(0, {A: 2, B: 2}), _record(10, {B: 3}), _record(20, {B: 4})]

    kept = trimmed(history, at(20), OPTIONS)

    assert [entry.after for entry in scalings_of(A, kept)] == [2]
    assert [entry.after for entry in scalings_of(B, kept)] == [3, 4]


def test_who_drops_out_of_a_record_leaves_no_trace_in_it() -> None:
    """Parallelism and rates go together."""
    oldest = trimmed([_record(0, {A: 2, B: 2}), _record(10, {B: 3}), _record(20, {B: 4})], at(20), OPTIONS)[0]

    assert (set(oldest.before), set(oldest.after), set(oldest.metrics)) == ({A}, {A}, {A})


def test_a_rescale_just_as_old_as_allowed_stays() -> None:
    """One a second older does not."""
    history = [_record(-1, {A: 2}), _record(0, {A: 3}), _record(10, {B: 2})]

    assert [record.at for record in trimmed(history, at(3_600), OPTIONS)] == [at(0), at(10)]


def test_the_newest_rescale_is_never_forgotten() -> None:
    """How long it took may still be to be measured, but no vertex is judged by it any more."""
    (kept,) = trimmed([_record(0, {A: 2})], at(100_000), OPTIONS)

    assert kept.decision_id == "d0"
    assert scalings_of(A, [kept]) == ()


def test_a_rate_that_is_not_known_is_no_number() -> None:
    """It compares false with everything, so nothing is concluded from it."""
    (entry,) = scalings_of(A, [replace(_record(0, {A: 2}), metrics={})])

    assert math.isnan(entry.rate(ScalingMetric.TRUE_PROCESSING_RATE))


@pytest.mark.parametrize(
    ("restarts", "expected"),
    [((), 300), ((None,), 300), ((40.0, 90.9, None), 90), ((2_000.0,), 900), ((-5.0,), 300), ((-5.0, 10.0), 10)],
)
def test_the_longest_measured_restart_counts(restarts: tuple[float | None, ...], expected: int) -> None:
    """In whole seconds up to the limit; one that took less than no time is none."""
    history = [_record(place, {A: 2}, restart) for place, restart in enumerate(restarts)]

    assert restart_time(TRACKED, history) == timedelta(seconds=expected)


def test_untracked_restarts_do_not_count() -> None:
    """The option holds, whatever was measured."""
    options = replace(TRACKED, restart_time_tracking_enabled=False)

    assert restart_time(options, [_record(0, {A: 2}, 40)]) == options.restart_time


def test_a_restart_is_measured_when_everything_runs_at_its_target() -> None:
    """Until the job was running again, whenever that was seen. What did not change plays no part."""
    history = [_record(0, {A: 2})]

    assert with_restart(history, {A: 1, B: 9}, at(50), at(60), HEADGATE)[0].restart is None
    assert with_restart(history, {A: 2, B: 9}, at(50), at(60), HEADGATE)[0].restart == timedelta(seconds=50)


def test_a_measured_restart_stays() -> None:
    """A later restart for another cause is not taken for it."""
    history = (_record(0, {A: 2}, 50),)

    assert with_restart(history, {A: 2}, at(900), at(910), HEADGATE) == history
    assert with_restart((), {A: 2}, at(900), at(910), HEADGATE) == ()


def test_only_the_newest_rescale_is_measured() -> None:
    """An earlier one that was overtaken is never known."""
    history = [_record(0, {A: 2}), _record(100, {A: 3})]

    measured = with_restart(history, {A: 3}, at(130), at(140), HEADGATE)

    assert [record.restart for record in measured] == [None, timedelta(seconds=30)]


def test_a_rescale_in_place_took_no_less_than_no_time() -> None:
    """The job runs since before: the reference records minus 70 seconds, Headgate the time until it was seen."""
    history = [_record(100, {A: 2})]

    assert with_restart(history, {A: 2}, at(30), at(112), PARITY)[0].restart == timedelta(seconds=-70)
    assert with_restart(history, {A: 2}, at(30), at(112), HEADGATE)[0].restart == timedelta(seconds=12)
