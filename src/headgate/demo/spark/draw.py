"""
Draws the load of a Spark application from a seed: how many executors each phase needs is clear by arithmetic.

It knows nothing of Headgate's code, so that the judge can rely on it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass

from headgate.demo.draw import Phase

PARTITIONS = 12
"""So that 1, 2, 3 and 4 executors take 12, 6, 4 and 3 waves: each one more is useful."""

MOST_EXECUTORS = 4
"""Of one core each: as many as there are workers."""

TRIGGER_S = 4.0
"""Long enough that what a batch costs by itself stays a small part of it."""

UTILIZATION_TARGET = 0.7

EXECUTORS = "executors"

_BATCH_S, _TASK_S = 0.5, 0.06
"""What a batch and each wave of its tasks take by themselves, roughly; the draws stay far from where it matters."""

_INSIDE = (0.3, 0.6)
"""Where between what one executor fewer can do and what so many can do a rate is drawn."""

_NEEDS = {"low load": (1, 2), "high load": (3, 4), "low load again": (1, 2)}
_WOBBLE = 0.1
_WOBBLE_S = 13.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkDraw:
    """A drawn load; the same seed gives the same one."""

    seed: int
    row_ms: float
    """What a row takes of one core."""
    phases: tuple[Phase, ...]

    @property
    def introduction(self) -> str:
        """What happens, for somebody who has never heard of Headgate."""
        return (
            "The load of this real PySpark application goes up and down. Two lines of it are Headgate's, which is told "
            "nothing of what the work costs, and gives the application as many executors as the load needs. "
        )

    @property
    def bottleneck(self) -> str:
        """What is drawn as a chart: all queries share the executors."""
        return EXECUTORS

    @property
    def workers(self) -> str:
        """What this chart is called."""
        return "Executors of the application, of one core each"

    def optimum(self, phase: Phase) -> Mapping[str, int]:
        """Return the executors that a phase needs, by arithmetic alone: the fewest with time enough for a batch."""
        counts = range(1, MOST_EXECUTORS)
        return {EXECUTORS: next((n for n in counts if phase.rate_per_s <= self.rate_of(n)), MOST_EXECUTORS)}

    def rate_of(self, executors: int) -> float:
        """
        Return the rows per second with which so many executors are busy for the target share of the time.

        A batch takes `a + (w + cost * rows / partitions) * ceil(partitions / executors)`, and should last as long as
        its trigger interval when the load is `1 / target` as high.
        """
        if executors == 0:
            return 0.0
        waves = math.ceil(PARTITIONS / executors)
        wave_s = (TRIGGER_S - _BATCH_S) / waves - _TASK_S
        return wave_s * PARTITIONS / (self.row_ms / 1000) / TRIGGER_S * UTILIZATION_TARGET

    def profile(self, *, lead_s: float, phase_s: float) -> str:
        """
        Return the load as the source reads it, with a slight swing, as no load is quite steady.

        Args:
            lead_s: before the first phase, with little load: what comes meanwhile waits for a slow first batch.
            phase_s: length of each phase.
        """
        swing = _WOBBLE * min(phase.rate_per_s for phase in self.phases)
        begun = [(lead_s + number * phase_s, phase.rate_per_s - swing) for number, phase in enumerate(self.phases)]
        steps = ", ".join(f"{begin_s:g}s:{rate:g}" for begin_s, rate in [(0.0, swing), *begun])
        return f"{steps} + sine({swing:g}, {swing:g}, {_WOBBLE_S:g}s)"


def draw_spark(seed: int) -> SparkDraw:
    """Return the seed's load: one or two executors are enough when it is low, three or four are needed when high."""
    chance = random.Random(seed)  # noqa: S311 (a draw that can be repeated, not a secret)
    costs = SparkDraw(seed=seed, row_ms=chance.choice((4.0, 5.0, 6.0)), phases=())
    phases = tuple(
        Phase(title=title, rate_per_s=_rate(costs, chance.choice(needs), chance)) for title, needs in _NEEDS.items()
    )
    return SparkDraw(seed=seed, row_ms=costs.row_ms, phases=phases)


def _rate(costs: SparkDraw, need: int, chance: random.Random) -> float:
    fewer, enough = costs.rate_of(need - 1), costs.rate_of(need)
    return round(fewer + (enough - fewer) * chance.uniform(*_INSIDE))
