"""What a soak reads from the lines that the service writes."""

from __future__ import annotations

from benchmarks.soak_run import decisions, retold
from benchmarks.soak_truth import Entry, What

AT = "2026-03-01T10:00:{:02}+00:00"
BEGAN = 1_772_359_200.0


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
