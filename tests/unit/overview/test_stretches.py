"""Hundreds of decisions that changed nothing, in a few lines."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from tests.unit.overview.conftest import decided, kept, waiting

from headgate.model.reasons import Reason
from headgate.overview.entry import Kind
from headgate.overview.stretches import silences, stretches
from headgate.testing.builders import at


def test_decisions_with_one_reason_are_one_stretch() -> None:
    """From the first to the last, with what the last one said."""
    quiet = [waiting(30 * n, Reason.STABILIZING, f"since {n}") for n in range(10)]
    limited = [decided(300 + 30 * n, factor=3.0, most=4) for n in range(20)]
    first, second = stretches([*quiet, *limited])
    assert (first.at, first.until, first.what, first.count, first.why) == (
        at(0),
        at(270),
        "stabilizing",
        10,
        ("since 9",),
    )
    assert (second.at, second.until, second.what, second.count) == (at(300), at(870), "limited: max parallelism", 20)


def test_a_job_that_is_well_is_one_stretch() -> None:
    """Whether something would change within the band or nothing would, is all the same."""
    well = [decided(30 * n) if n % 3 else kept(30 * n, Reason.WITHIN_BAND) for n in range(312)]
    (only,) = stretches(well)
    assert (only.what, only.count, only.kind) == ("in balance or within its band", 312, Kind.UNCHANGED)


def test_advice_that_changes_is_another_stretch() -> None:
    """Each says what would have been done."""
    small, large = (
        [replace(decided(start + 30 * n, factor=factor), reason=Reason.ADVICE) for n in range(5)]
        for start, factor in ((0, 2.0), (150, 4.0))
    )
    assert [entry.what for entry in stretches([*small, *large])] == [
        "advice only: agg 4 -> 8",
        "advice only: agg 4 -> 16",
    ]


def test_what_goes_back_and_forth_is_told_once() -> None:
    """A line for each turn would bury all others."""
    nervous = [kept(30 * n, Reason.NO_ROOM if n % 2 else Reason.LIMITED) for n in range(40)]
    calm = [decided(1_200 + 30 * n) for n in range(10)]
    first, second = stretches([*nervous, *calm])
    assert (first.what, first.count) == ("back and forth between limited and no room", 40)
    assert (second.what, second.count) == ("balanced", 10)


def test_a_time_without_decisions_is_told() -> None:
    """Nobody looked after the job: what the stretches say does not hold there."""
    decisions = [decided(0), decided(30), decided(3_630), decided(3_660)]
    (silence,) = silences([decision.at for decision in decisions], timedelta(minutes=5))
    assert (silence.at, silence.until, silence.what) == (at(30), at(3_630), "no decision for 60 min")
