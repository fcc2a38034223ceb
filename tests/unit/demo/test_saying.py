"""What the demo shows of Headgate's log."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from headgate.demo.saying import Saying, read_sayings

AT = datetime(2026, 1, 1, 12, 0, 5, tzinfo=UTC)


def line(**record: object) -> str:
    """Give a log line."""
    return json.dumps({"at": AT.isoformat(), "message": "four are needed", **record})


def test_a_decision_is_shown_by_its_reason() -> None:
    """A rescale is told from a decision to keep things as they are."""
    lines = [
        line(event="decision", outcome="Rescale", reason="Rescaled"),
        line(event="decision", outcome="Keep", reason="Stabilizing"),
    ]
    assert read_sayings(lines) == [
        Saying(at=AT, what="Rescaled", message="four are needed", rescales=True),
        Saying(at=AT, what="Stabilizing", message="four are needed"),
    ]


def test_an_event_is_shown_by_its_name_on_one_line() -> None:
    """A message of several lines would break the picture."""
    assert read_sayings([line(event="RescaleReached", message="it\nruns")]) == [
        Saying(at=AT, what="RescaleReached", message="it runs")
    ]


def test_what_is_not_a_decision_or_an_event_is_passed_over() -> None:
    """Spark's own lines, Headgate's greeting, and what a decision has said already."""
    lines = ["WARN Utils: hostname", "[1]", "", json.dumps({"event": "started"}), line(event="ScalingReport")]
    assert read_sayings(lines) == []
