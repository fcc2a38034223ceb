"""Everything that the demo's views show, as one value; and how observations become columns of a chart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from headgate.demo.draw import Phase
from headgate.demo.saying import Saying
from headgate.demo.timeline import Observation


class Workload(Protocol):
    """What was drawn for a demo, as far as it is shown."""

    @property
    def seed(self) -> int:
        """What fixed it."""

    @property
    def phases(self) -> Sequence[Phase]:
        """One after the other, all of the same length."""

    @property
    def introduction(self) -> str:
        """What happens, for somebody who has never heard of Headgate."""

    @property
    def bottleneck(self) -> str:
        """The name, in `Observation.parallelism`, of what is drawn as a chart."""

    @property
    def workers(self) -> str:
        """What this chart is called."""

    def optimum(self, phase: Phase, /) -> Mapping[str, int]:
        """Return what a phase needs, by arithmetic alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The demo at one instant."""

    workload: Workload
    phase_length: timedelta
    epoch: datetime
    at_s: float
    """Seconds since the first phase began; negative before."""
    dry_run: bool = False
    timeline: Sequence[Observation] = ()
    sayings: Sequence[Saying] = field(default=())

    @property
    def length_s(self) -> float:
        """Of all phases together."""
        return len(self.workload.phases) * self.phase_length.total_seconds()

    @property
    def phase(self) -> Phase:
        """The phase that runs; the first one before it began, the last one after it ended."""
        return self._phase_at(self.at_s)

    @property
    def wanted(self) -> Mapping[str, int]:
        """The parallelism that each vertex needs now."""
        return self.wanted_at(self.at_s)

    def wanted_at(self, at_s: float) -> Mapping[str, int]:
        """Return the parallelism that each vertex needs at a time."""
        return self.workload.optimum(self._phase_at(at_s))

    @property
    def now(self) -> Observation | None:
        """What was seen last."""
        return self.timeline[-1] if self.timeline else None

    def _phase_at(self, at_s: float) -> Phase:
        number = int(at_s // self.phase_length.total_seconds())
        return self.workload.phases[min(max(number, 0), len(self.workload.phases) - 1)]


def clock(seconds: float) -> str:
    """Return minutes and seconds, such as `1:05`, or `-0:05` before the first phase."""
    minutes, rest = divmod(abs(int(seconds)), 60)
    return f"{'-' if seconds <= -1 else ''}{minutes}:{rest:02}"


def columns(
    scene: Scene, width: int, value: Callable[[Observation], float], *, joined: Callable[[list[float]], float] = max
) -> list[float]:
    """
    Return one number for each column of a chart as wide as the whole demo, up to now.

    Args:
        scene: whose timeline is drawn.
        width: columns of the whole demo.
        value: what is drawn.
        joined: makes one number of a column's; where nothing was seen the column before is repeated.
    """
    shares: dict[int, list[float]] = {}
    for seen in scene.timeline:
        if 0 <= seen.at_s < scene.length_s:
            shares.setdefault(int(seen.at_s * width / scene.length_s), []).append(value(seen))
    drawn: list[float] = []
    for column in range(max(shares, default=-1) + 1):
        before = drawn[-1] if drawn else 0.0
        drawn.append(joined(shares[column]) if column in shares else before)
    return drawn
