"""
Loads over time, as the load job takes them; rates are records per second of the whole source.

The Java `Profile` computes the same rates; time is counted from the job's `epoch`.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from headgate.samplelog.directory import replace_text


class Profile(Protocol):
    """A load over time."""

    def rate_per_s(self, since_epoch: timedelta, /) -> float:
        """Return the rate at a time; 0 before the epoch."""
        ...

    def argument(self) -> str:
        """Return the value of the job's `profile` argument."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantProfile:
    """The same rate for ever."""

    per_s: float

    def rate_per_s(self, since_epoch: timedelta, /) -> float:
        """Return the rate at a time; 0 before the epoch."""
        return self.per_s if since_epoch >= timedelta() else 0.0

    def argument(self) -> str:
        """Return the value of the job's `profile` argument."""
        return f"const:{self.per_s}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepProfile:
    """A rate that jumps at given times; 0 before the first."""

    steps: tuple[tuple[timedelta, float], ...]
    """When each rate begins, counted from the epoch, and the rate; in order of time."""

    def __post_init__(self) -> None:
        """Refuse what the job would refuse."""
        starts = [start for start, _ in self.steps]
        if not starts or any(later <= earlier for earlier, later in itertools.pairwise(starts)):
            msg = f"steps must be at least one and in order of time: {self.steps}"
            raise ValueError(msg)

    def rate_per_s(self, since_epoch: timedelta, /) -> float:
        """Return the rate at a time; 0 before the first step."""
        return next((rate for start, rate in reversed(self.steps) if start <= since_epoch), 0.0)

    def argument(self) -> str:
        """Return the value of the job's `profile` argument."""
        return "step:" + ",".join(f"{start.total_seconds()}={rate}" for start, rate in self.steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileProfile:
    """A rate that is set while the job runs: steps in a file that grows. For whoever waits until something happened."""

    path: Path
    """Read by every source subtask a few times a second; where there is none yet, the rate is 0."""

    def set_rate(self, since_epoch: timedelta, per_s: float) -> None:
        """
        Add a step.

        Args:
            since_epoch: when it begins, later than any before it; half a second ahead, so that all subtasks know it.
            per_s: the rate from then on.
        """
        steps = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        replace_text(self.path, f"{steps}{since_epoch.total_seconds()}={per_s}\n")

    def rate_per_s(self, since_epoch: timedelta, /) -> float:
        """Return the rate at a time, as far as it is set; 0 before the first step."""
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        if not lines:
            return 0.0
        pairs = [tuple(map(float, line.split("="))) for line in lines]
        return StepProfile(steps=tuple((timedelta(seconds=at), rate) for at, rate in pairs)).rate_per_s(since_epoch)

    def argument(self) -> str:
        """Return the value of the job's `profile` argument."""
        return f"file:{self.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SineProfile:
    """`base + amplitude * sin(2 pi t / period)`: it begins at the base and rises."""

    base_per_s: float
    amplitude_per_s: float
    period: timedelta

    def __post_init__(self) -> None:
        """Refuse what the job would refuse."""
        if self.amplitude_per_s > self.base_per_s:
            msg = f"amplitude {self.amplitude_per_s} exceeds base {self.base_per_s}: the rate would be negative"
            raise ValueError(msg)

    def rate_per_s(self, since_epoch: timedelta, /) -> float:
        """Return the rate at a time; 0 before the epoch."""
        if since_epoch < timedelta():
            return 0.0
        return self.base_per_s + self.amplitude_per_s * math.sin(2 * math.pi * (since_epoch / self.period))

    def argument(self) -> str:
        """Return the value of the job's `profile` argument."""
        return f"sine:{self.base_per_s},{self.amplitude_per_s},{self.period.total_seconds()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RampProfile:
    """From one rate to another in a straight line, then on at the second."""

    from_per_s: float
    to_per_s: float
    duration: timedelta

    def rate_per_s(self, since_epoch: timedelta, /) -> float:
        """Return the rate at a time; 0 before the epoch."""
        if since_epoch < timedelta():
            return 0.0
        return self.from_per_s + (self.to_per_s - self.from_per_s) * min(1.0, since_epoch / self.duration)

    def argument(self) -> str:
        """Return the value of the job's `profile` argument."""
        return f"ramp:{self.from_per_s},{self.to_per_s},{self.duration.total_seconds()}"
