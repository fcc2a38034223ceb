"""What the time of a cycle goes into, by phase: summed up while the cycle lasts, and counted when it is over."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from threading import Lock

from headgate.telemetry.tallies import Durations


class Phase(StrEnum):
    """A part of the work; what is done for several jobs at once counts for each of them."""

    COLLECT = "collect"
    EVALUATE = "evaluate"
    DECIDE = "decide"
    REALIZE = "realize"
    KEEP = "keep"


class Phases:
    """Takes in how long parts of the work take; safe to call from several threads."""

    def __init__(self, stopwatch: Callable[[], float] = time.monotonic) -> None:
        """Have measured nothing yet; `stopwatch` gives seconds that only go on."""
        self._stopwatch = stopwatch
        self._lock = Lock()
        self._under_way: defaultdict[Phase, float] = defaultdict(float)
        self._durations: dict[Phase, Durations] = {}

    def read(self) -> Mapping[Phase, Durations]:
        """Give the phases of all cycles that are over."""
        with self._lock:
            return dict(self._durations)

    @contextmanager
    def timed(self, phase: Phase) -> Iterator[None]:
        """Measure something that is done for the present cycle."""
        began = self._stopwatch()
        try:
            yield
        finally:
            with self._lock:
                self._under_way[phase] += self._stopwatch() - began

    def end_cycle(self) -> None:
        """Count the phases of the cycle that is over; one in which nothing was to be done is not counted."""
        with self._lock:
            for phase, seconds in self._under_way.items():
                self._count(phase, seconds)
            self._under_way.clear()

    def note(self, phase: Phase, seconds: float) -> None:
        """Count what belongs to no cycle."""
        with self._lock:
            self._count(phase, seconds)

    def _count(self, phase: Phase, seconds: float) -> None:
        self._durations[phase] = self._durations.get(phase, Durations()).with_duration(seconds)
