"""
One look at a vertex: when the engine measured it, whether it says anything new, and whether its counters started anew.

The engine's own clock is in its counters. A subtask is busy, idle or back-pressured at any instant, so the sum of the
three, divided by the parallelism, is the time that the tasks had run when the TaskManagers were last asked, to the
millisecond and however old the answer is. Differences are exact although Flink fetches metrics every ten seconds only.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from headgate.engines.flink.counters import Counters, difference
from headgate.engines.flink.numbers import instant

_EPOCHS = 2**31
"""Epochs are 32-bit integers."""
_CLOCK_TOLERANCE_MS = 1_000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What the engine says of a vertex at one tick."""

    counters: Counters
    parallelism: int
    started_at_ms: int
    """When the vertex was deployed."""
    running_since_ms: int
    """When the job last became running: later than the deployment of those a partial restart has left alone."""
    now_ms: float
    """The JobManager's clock when it answered, at the latest."""
    all_running: bool
    clock_ms: float | None = field(init=False)
    """When the engine measured, in epoch milliseconds; None when the counters do not tell."""

    def __post_init__(self) -> None:
        """Take the time from the counters."""
        object.__setattr__(self, "clock_ms", self._read_clock())

    @property
    def is_of_earlier_run(self) -> bool:
        """Tell whether tasks seem to have run longer than they exist: the counters are those before a restart."""
        clock_ms = self.clock_ms
        return clock_ms is not None and clock_ms > self.now_ms + _CLOCK_TOLERANCE_MS

    def _read_clock(self) -> float | None:
        total_ms = self.counters.total_ms
        if total_ms is None or not self.all_running or self.started_at_ms <= 0:
            return None
        return self.started_at_ms + total_ms / self.parallelism

    @property
    def first_epoch(self) -> int:
        """The epoch of a run: its start in seconds, which no earlier run shares, also not one that a log remembers."""
        return max(self.started_at_ms, self.running_since_ms) // 1000 % _EPOCHS


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The latest reading that said something new."""

    reading: Reading
    measured_at: datetime
    epoch: int
    looked_at: datetime
    """The latest tick at all, also one with nothing new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What to remember of a vertex, and whether this look is a sample."""

    seen: Seen
    before: Seen | None = None
    """The look before, if differences to it mean something."""
    is_sample: bool = False

    @property
    def elapsed_s(self) -> float:
        """Seconds between the two measurements by the engine's clock; 0 when there is none before."""
        return (self.seen.measured_at - self.before.measured_at).total_seconds() if self.before else 0.0

    def grown(self, counter: str) -> float | None:
        """Give the growth of a counter since the look before; None when unknown."""
        if self.before is None:
            return None
        return difference(getattr(self.seen.reading.counters, counter), getattr(self.before.reading.counters, counter))


def look(seen: Seen | None, reading: Reading, *, at: datetime, refresh: timedelta) -> Look | None:
    """
    Compare a reading with the one before.

    Args:
        seen: the look before, None at the first one.
        reading: what the engine says now.
        at: the tick, which dates the reading when the engine's clock is unknown.
        refresh: how often the engine fetches its metrics.

    Returns:
        None when the reading is of an earlier run and says nothing of this one.
    """
    begins = seen is None or _started_anew(seen.reading, reading)
    if begins and reading.is_of_earlier_run:
        return None
    clock_ms = reading.clock_ms
    measured_at = at if clock_ms is None else instant(clock_ms)
    if seen is None or begins:
        fresh = Seen(reading=reading, measured_at=measured_at, epoch=_epoch(seen, reading), looked_at=at)
        # an answer without a clock may be older than anybody knows: it is where counting begins, no more
        return Look(seen=fresh, is_sample=clock_ms is not None)
    if not _says_something_new(seen, reading, at, refresh):
        return Look(seen=replace(seen, looked_at=at))
    now = Seen(reading=reading, measured_at=measured_at, epoch=seen.epoch, looked_at=at)
    trusted = clock_ms is not None or at - seen.looked_at <= 2 * refresh
    return Look(seen=now, before=seen, is_sample=True) if trusted else Look(seen=now)


def _started_anew(before: Reading, now: Reading) -> bool:
    return (
        now.started_at_ms != before.started_at_ms
        or now.running_since_ms != before.running_since_ms
        or now.parallelism != before.parallelism
        or (now.clock_ms is None) != (before.clock_ms is None)
        or now.counters.fell_since(before.counters)
    )


def _epoch(seen: Seen | None, reading: Reading) -> int:
    return reading.first_epoch if seen is None else max(reading.first_epoch, seen.epoch + 1)


def _says_something_new(seen: Seen, reading: Reading, at: datetime, refresh: timedelta) -> bool:
    """Tell a stale answer by its clock; without one, by its counters, for as long as the engine may repeat itself."""
    if reading.clock_ms is not None:
        return reading.clock_ms != seen.reading.clock_ms
    return reading.counters != seen.reading.counters or at - seen.measured_at > 2 * refresh
