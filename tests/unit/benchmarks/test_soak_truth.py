"""What the truth of the soak says that a job needs, and what it reads from the lines of the service."""

from __future__ import annotations

import pytest
from benchmarks.soak_plan import LEVELS
from benchmarks.soak_run import decisions, retold
from benchmarks.soak_truth import Entry, What, fits, needed

AT = "2026-03-01T10:00:{:02}+00:00"
BEGAN = 1_772_359_200.0


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_needed_fits(level: int) -> None:
    """Half as many of one vertex, or twice as many of all, do not."""
    source, work, sink = needed(level)
    assert fits((source, work, sink), level)
    assert not fits((source, work // 2, sink), level)
    assert not fits((2 * source, 2 * work, 2 * sink), level)


def test_close_to_the_end_of_the_band_either_is_right() -> None:
    """A vertex that is busy for 0.907 of its time need not change, and may."""
    assert fits((6, 12, 3), 8)
    assert not fits((6, 12, 3), 8, slack=-0.02)


def test_a_single_subtask_may_idle() -> None:
    """There is no smaller parallelism."""
    assert fits((1, 2, 1), 1)


def test_decisions_come_from_the_reports_of_rescales() -> None:
    """And of rollbacks, which name what they take back. Advice is none, and neither are other events."""
    report = {"event": "ScalingReport", "acts": 1, "at": AT.format(30), "job": "soak-1/job-00012", "decision": "d"}
    found = list(decisions([report, {**report, "acts": 0}, {**report, "event": "Scaling"}], BEGAN))
    assert found == [Entry(30.0, 12, What.DECISION, "d")]
    taken_back = {**report, "event": "Rollback"}
    assert list(decisions([taken_back], BEGAN)) == [Entry(30.0, 12, What.DECISION, "rollback of d")]


def test_an_event_is_retold_if_it_happened_anew_within_half_an_hour() -> None:
    """A second delivery of the same one is none."""
    first, later = {"key": "k", "at": AT.format(0)}, {"key": "k", "at": AT.format(10)}
    assert retold([first, later]) == ["k"]
    assert retold([first, first]) == []
    assert retold([first, {**later, "at": "2026-03-01T10:40:00+00:00"}]) == []
