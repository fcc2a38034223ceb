"""Events as log lines."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
import structlog
from structlog.testing import CapturingLogger

from headgate.events.log import LogEventHandler
from headgate.model.events import Event, EventReason, EventType
from headgate.model.identity import JobKey

EVENT = Event(
    at=datetime(2025, 6, 1, 12, tzinfo=UTC),
    type=EventType.NORMAL,
    reason=EventReason.SCALING_REPORT,
    message="map: 2 to 4",
    key="d1",
    subject=JobKey("local", "sales"),
    fields={"wanted": 4},
)


@pytest.fixture
def output() -> CapturingLogger:
    """Give what takes the place of the terminal."""
    return CapturingLogger()


@pytest.fixture
def handler(output: CapturingLogger) -> LogEventHandler:
    """Give a handler whose lines are kept."""
    return LogEventHandler(structlog.wrap_logger(output, processors=[lambda _, __, line: ((), line)]))


def test_a_line_holds_the_event_and_its_fields(handler: LogEventHandler, output: CapturingLogger) -> None:
    """The line is called as the event's reason, the job is bound, and so is each field."""
    handler.handle(EVENT)
    (call,) = output.calls
    assert call.method_name == "info"
    assert call.kwargs == {
        "event": "ScalingReport",
        "message": "map: 2 to 4",
        "at": "2025-06-01T12:00:00+00:00",
        "key": "d1",
        "job": "local/sales",
        "wanted": 4,
    }


def test_a_warning_is_a_warning(handler: LogEventHandler, output: CapturingLogger) -> None:
    """The level follows from the event's type."""
    handler.handle(replace(EVENT, type=EventType.WARNING))
    assert output.calls[0].method_name == "warning"


def test_what_nobody_need_look_at_is_a_debug_line(handler: LogEventHandler, output: CapturingLogger) -> None:
    """Which a service does not show unless it is told to."""
    handler.handle(replace(EVENT, type=EventType.DEBUG))
    assert output.calls[0].method_name == "debug"


def test_the_subject_may_be_a_cluster(handler: LogEventHandler, output: CapturingLogger) -> None:
    """A cluster's event has no job."""
    handler.handle(replace(EVENT, subject="local"))
    assert output.calls[0].kwargs["cluster"] == "local"
    assert "job" not in output.calls[0].kwargs


def test_a_field_cannot_pose_as_the_event(handler: LogEventHandler, output: CapturingLogger) -> None:
    """Fields are named by anybody; what the event itself says wins."""
    handler.handle(replace(EVENT, fields={"event": "Fake", "message": "fake", "job": "fake", "level": "fake"}))
    line = output.calls[0].kwargs
    assert (line["event"], line["message"], line["job"]) == ("ScalingReport", "map: 2 to 4", "local/sales")
