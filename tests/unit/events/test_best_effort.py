"""Events that nobody saved."""

from __future__ import annotations

from headgate.control.reports import fleet_error
from headgate.errors import UnreachableError
from headgate.events.best_effort import BestEffortEventHandler
from headgate.testing.builders import START
from headgate.testing.fakes import RecordingEvents


def test_a_receiver_that_is_down_stops_nobody() -> None:
    """The cycle that wanted to tell of something goes on; afterwards events arrive again."""
    receiver = RecordingEvents(fault=UnreachableError("down"))
    handler = BestEffortEventHandler(receiver)
    event = fleet_error("what", "why", START)

    handler.handle(event)
    receiver.fault = None
    handler.handle(event)

    assert receiver.told == [event]
