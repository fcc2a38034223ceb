"""What the agent remembers of its own doing: the recent decisions and events, for whoever asks it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from headgate.agent.log import log_event
from headgate.model.decision import Decision
from headgate.model.events import Event, EventType
from headgate.model.samples import JobSample
from headgate.ports import SampleSink

_KEPT = 500


Report = Callable[[JobSample | Decision | Event], None]
"""Tells a service; it neither blocks nor raises."""


def nowhere(_: object) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """
    Keeps the recent decisions and events, and hands them on.

    A `ports.EventHandler` and `ports.DecisionSink` that never raises: what it tells of must not stop because somebody
    cannot be told.
    """

    report: Report = nowhere
    decisions: deque[Decision] = field(default_factory=lambda: deque(maxlen=_KEPT))
    events: deque[Event] = field(default_factory=lambda: deque(maxlen=_KEPT))

    def append_decisions(self, decisions: Sequence[Decision], /) -> None:
        """Keep the decisions of a cycle."""
        for decision in decisions:
            self.decisions.append(decision)
            self.report(decision)

    def handle(self, event: Event, /) -> None:
        """Keep an event, and log it; one for the log alone is not reported."""
        self.events.append(event)
        if event.type is not EventType.DEBUG:
            self.report(event)
        with suppress(Exception):  # whatever the application's logging does, it must not end the agent
            log_event(event)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedSamples:
    """A `ports.SampleSink` that also reports what it hands on."""

    sink: SampleSink
    report: Report

    def append(self, samples: Sequence[JobSample], /) -> None:
        """Hand the samples of a tick on."""
        self.sink.append(samples)
        for sample in samples:
            self.report(sample)
